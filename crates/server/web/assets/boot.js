// Runs before the first paint, so that a dark page does not flash white. All other scripts are modules.
'use strict';
(function () {
  const root = document.documentElement;
  try {
    const theme = localStorage.getItem('agenticiqa.theme');
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
    const language = localStorage.getItem('agenticiqa.language') || navigator.language || 'en';
    root.lang = language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
  } catch {
    root.lang = 'en'; // storage may be disabled
  }
})();
