// The page header: navigation, backend, language and theme.
import { get } from './api.js';
import { button, fill, h, say } from './dom.js';
import { language, setLanguage, translate } from './i18n.js';
import { theme, toggleTheme } from './theme.js';

const ROLES = ['planner', 'executor', 'summarizer'];

/** @param {(names: string[]) => void} heard called with the names of the backends */
export function header(heard) {
  const links = [['', 'nav.assess'], ['jobs', 'nav.jobs'], ['history', 'nav.history']]
    .map(([path, words]) => h('a', { href: `#/${path}`, t: words ?? '', 'data-path': path }));
  const backend = h('details', { class: 'backend' }, h('summary', {},
    h('i', { class: 'lamp', 'aria-hidden': 'true' }), h('span', { class: 'unseen', t: 'backend.label' }), ' ', h('span', { class: 'name' }, '…')));
  const tongue = button('language.other', () => setLanguage(language() === 'zh' ? 'en' : 'zh'), { class: 'quiet small', lang: language() === 'zh' ? 'en' : 'zh' });
  const shade = button('theme.dark', () => toggleTheme(), { class: 'quiet small' });
  const reflect = () => {
    say(shade, 't', theme() === 'dark' ? 'theme.light' : 'theme.dark');
    tongue.lang = language() === 'zh' ? 'en' : 'zh';
  };
  document.addEventListener('themechange', reflect);
  document.addEventListener('languagechange', () => {
    reflect();
    if (known) showBackends(backend, known);
  });
  reflect();
  /** @type {any} */
  let known = null;
  get('/backends').then((backends) => {
    known = backends;
    showBackends(backend, backends);
    heard(ROLES.map((role) => backends[role]?.name).filter(Boolean));
  }).catch((error) => {
    const name = backend.querySelector('.name');
    if (name) name.textContent = error instanceof Error ? error.message : String(error);
    backend.dataset.ready = 'no';
  });
  const top = /** @type {HTMLElement} */ (document.getElementById('top'));
  fill(top, h('a', { class: 'brand', href: '#/' }, h('img', { src: '/assets/icon.svg', alt: '', width: 24, height: 24 }), h('span', {}, 'AgenticIQA')),
    h('nav', { label: 'nav.label' }, ...links), h('div', { class: 'top-right' }, backend, tongue, shade));
  return { mark: (/** @type {string} */ path) => links.forEach((link) => {
    if (link.dataset.path === path) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }) };
}

/** @param {string} name @param {string} kind */
function title(name, kind) {
  return kind === 'builtin' || name === 'builtin' ? translate('backend.builtin') : name;
}

/** @param {HTMLElement} element @param {any} backends */
function showBackends(element, backends) {
  const roles = ROLES.map((role) => ({ role, ...backends[role] }));
  const names = [...new Set(roles.map(({ name, kind }) => title(name, kind)))];
  const ready = roles.every((role) => role.ready);
  element.dataset.ready = ready ? 'yes' : 'no';
  const name = element.querySelector('.name');
  if (name) name.textContent = names.join(' · ');
  element.querySelector('.sheet')?.remove();
  element.append(h('div', { class: 'sheet' }, h('p', { class: 'small faint', t: 'backend.text' }),
    ...roles.map((role) => h('p', {}, h('span', { class: 'faint', t: `node.${role.role}` }), ' ', h('b', {}, title(role.name, role.kind)), ' ',
      h('span', { t: role.ready ? 'backend.ready' : 'backend.missing' }), role.problem ? h('span', { class: 'problem block small' }, role.problem) : null))));
}
