'use strict';
// Decisions are kept in the page: each photo is an element with its path and its decision.
const photos = [...document.querySelectorAll('[data-path]')];
const shown = photos.filter((photo) => photo.matches('figure'));
const DECISIONS = ['keep', 'reject', 'unsure'];

function decide(photo, decision) {
  photo.dataset.decision = decision;
  if (!photo.matches('figure')) return;
  photo.classList.remove(...DECISIONS);
  photo.classList.add(decision);
  photo.querySelector('b').textContent = decision;
  count();
}

function count() {
  const counts = DECISIONS.map((decision) => `${decision} ${photos.filter((photo) => photo.dataset.decision === decision).length}`);
  document.querySelector('#counts').textContent = counts.join(', ');
}

function members(photo) {
  return [...photo.closest('.group').querySelectorAll('figure')];
}

/** Makes a photo the keeper; the keeper of before is rejected. */
function swap(photo) {
  for (const other of members(photo)) {
    if (other.dataset.decision === 'keep') decide(other, 'reject');
  }
  decide(photo, 'keep');
}

function move(photo, by) {
  const next = shown[shown.indexOf(photo) + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/** Accepts the decisions of a group and goes to the next one. */
function accept(photo) {
  const group = photo.closest('.group');
  group.classList.add('accepted');
  const groups = [...document.querySelectorAll('.group')];
  const next = groups[groups.indexOf(group) + 1]?.querySelector('figure');
  next?.focus();
  next?.closest('.group').scrollIntoView({ block: 'start' });
}

const KEYS = {
  ArrowRight: (photo) => move(photo, 1),
  ArrowLeft: (photo) => move(photo, -1),
  k: (photo) => decide(photo, 'keep'),
  r: (photo) => decide(photo, 'reject'),
  u: (photo) => decide(photo, 'unsure'),
  s: swap,
  Enter: accept,
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('button')) return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  const photo = document.activeElement?.closest?.('figure') ?? shown[0];
  if (!act || !photo) return;
  event.preventDefault();
  photo.focus();
  act(photo);
});

// The crops of a group show the same place, at first its middle, where the subject is.
for (const crop of document.querySelectorAll('.crop')) {
  crop.scrollTo((crop.scrollWidth - crop.clientWidth) / 2, (crop.scrollHeight - crop.clientHeight) / 2);
  crop.addEventListener('scroll', () => {
    for (const other of crop.closest('.group').querySelectorAll('.crop')) {
      if (other !== crop && Math.abs(other.scrollLeft - crop.scrollLeft) + Math.abs(other.scrollTop - crop.scrollTop) > 1) {
        other.scrollTo(crop.scrollLeft, crop.scrollTop);
      }
    }
  });
}

function csv() {
  const field = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const row = (photo) => ['path', 'group', 'decision', 'score', 'reason'].map((name) => field(photo.dataset[name])).join(',');
  return ['image_path,group,decision,score,reason', ...photos.map(row)].join('\n') + '\n';
}

document.querySelector('#export').addEventListener('click', () => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([csv()], { type: 'text/csv' }));
  link.download = 'decisions.csv';
  link.click();
});

count();
shown[0]?.focus();
