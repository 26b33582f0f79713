"use strict";
// Tooltips of charts: shown without delay, and also on touch.
const tip = document.getElementById("tip");
for (const svg of document.querySelectorAll(".chart svg")) {
  for (const title of svg.querySelectorAll("title")) {
    const mark = title.parentNode;
    mark.dataset.tip = title.textContent;
    title.remove();
  }
  const show = (event) => {
    const mark = event.target.closest("[data-tip]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const above = event.clientY + 22 + tip.offsetHeight > innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (above ? event.clientY - tip.offsetHeight - 12 : event.clientY + 18) + "px";
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
}

// Tables that are wider than the screen can be scrolled with the keyboard.
const reachable = () => {
  for (const one of document.querySelectorAll(".scroll")) {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  }
};
reachable();
addEventListener("resize", reachable);
document.addEventListener("toggle", reachable, true);

// Filter cases by kind.
for (const filters of document.querySelectorAll(".filters")) {
  filters.hidden = false;
  filters.addEventListener("click", (event) => {
    const chosen = event.target.closest("button");
    if (!chosen) return;
    for (const button of filters.querySelectorAll("button")) button.setAttribute("aria-pressed", button === chosen);
    for (const one of filters.parentNode.querySelectorAll(".case")) {
      one.hidden = !(chosen.dataset.kind === "" || one.dataset.kinds.split(" ").includes(chosen.dataset.kind));
    }
  });
}
// A link to a filtered-out case shows it anyway.
addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.hidden) {
    target.closest(".cases").querySelector(".filters button").click();
    target.scrollIntoView();
  }
});

// Large images. A click or an arrow key shows the next image of the case at the same position, to compare them.
const viewer = document.getElementById("viewer");
let shown = [], place = 0;
const view = (next) => {
  place = (next + shown.length) % shown.length;
  const picture = shown[place];
  viewer.querySelector("img").src = picture.src;
  viewer.querySelector("img").alt = picture.alt;
  viewer.querySelector("p").textContent =
    picture.alt + (shown.length > 1 ? ` (${place + 1} of ${shown.length}: click or arrow keys)` : "");
};
document.addEventListener("click", (event) => {
  const picture = event.target.closest(".pictures img");
  if (picture) {
    shown = [...picture.closest(".pictures").querySelectorAll("img")];
    view(shown.indexOf(picture));
    viewer.showModal();
  } else if (event.target === viewer) {
    viewer.close();
  } else if (event.target.closest("#viewer img")) {
    view(place + 1);
  }
});
viewer.addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight") view(place + 1);
  if (event.key === "ArrowLeft") view(place - 1);
});

// Expand all details for printing.
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
});
