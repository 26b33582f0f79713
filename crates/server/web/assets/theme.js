// Light or dark theme: follows the system until the user chooses one.
const KEY = 'agenticiqa.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/** @returns {'light' | 'dark'} the current theme */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return dark.matches ? 'dark' : 'light';
}

/** Switches the theme and stores the choice. */
export function toggleTheme() {
  const next = theme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch { /* kept until the page is closed */ }
  document.dispatchEvent(new CustomEvent('themechange'));
}

dark.addEventListener('change', () => document.dispatchEvent(new CustomEvent('themechange')));

/**
 * Returns a color of the style sheet for painting on a canvas.
 * @param {string} name of a custom property
 */
export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
