// Light or dark: as the system says, until somebody chooses.
const KEY = 'agenticiqa.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/** @returns {'light' | 'dark'} what is shown */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return dark.matches ? 'dark' : 'light';
}

/** Changes to the other one, and remembers it. */
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
 * A color of the style sheet, for what is painted by script.
 * @param {string} name of a custom property
 */
export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
