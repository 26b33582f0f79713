// Runs before the first paint, so that a page in the dark theme does not flash white. Everything else is a module.
'use strict';
(function () {
  const root = document.documentElement;
  try {
    const theme = localStorage.getItem('agenticiqa.theme');
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
    const language = localStorage.getItem('agenticiqa.language') || navigator.language || 'en';
    root.lang = language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
  } catch {
    root.lang = 'en'; // a browser that forbids storage still gets the page
  }
})();
