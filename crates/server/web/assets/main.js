// Starts the page: creates views when they are needed and shows the view of the URL.
import { get } from './api.js';
import { fill, h, sayAllAgain } from './dom.js';
import { Gallery } from './gallery.js';
import { header } from './header.js';
import { History } from './history.js';
import { translate } from './i18n.js';
import { Jobs } from './jobs.js';
import { address, go, route } from './router.js';
import { Sample } from './sample.js';
import { Scatter } from './scatter.js';
import { Workbench } from './workbench.js';

const main = /** @type {HTMLElement} */ (document.getElementById('main'));
const jobs = new Jobs();
const gallery = new Gallery();
const sample = new Sample((job, name) => {
  const at = gallery.id === job ? gallery.rows.findIndex((row) => row.sample_id === name) : -1;
  return { before: gallery.rows[at - 1]?.sample_id ?? null, after: at < 0 ? null : gallery.rows[at + 1]?.sample_id ?? null };
});
const scatter = new Scatter();
const history = new History();
const workbench = new Workbench((files) => {
  jobs.take(files);
  go(address(['jobs']));
});
const { mark } = header((names) => workbench.ask.setBackends(names));

/** @type {[string, string, HTMLElement]} */
let shown = ['', '', main];

function showRoute() {
  const { path: [view = '', id = '', part = ''], query } = route();
  gallery.close();
  /** @type {Record<string, () => [string, string, HTMLElement]>} */
  const views = {
    '': () => ['', 'nav.assess', workbench.element],
    a: () => { workbench.open(id); return ['', 'nav.assess', workbench.element]; },
    jobs: () => {
      if (part) { sample.open(id, part, query); return ['jobs', 'nav.jobs', sample.element]; }
      if (id) { gallery.open(id, query); return ['jobs', 'nav.jobs', gallery.element]; }
      jobs.open();
      return ['jobs', 'nav.jobs', jobs.element];
    },
    compare: () => { scatter.open(query); return ['jobs', 'compare.title', scatter.element]; },
    history: () => { history.open(); return ['history', 'nav.history', history.element]; },
  };
  const first = shown[2] === main;
  shown = views[view]?.() ?? ['', 'lost', h('div', { class: 'narrow' }, h('h1', { t: 'lost' }), h('a', { href: '#/', t: 'nav.assess' }))];
  const [path, , element] = shown;
  mark(path);
  if (main.firstElementChild !== element) {
    fill(main, element);
    sayAllAgain(element); // the language may have changed while the view was hidden
    if (!first) main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  title();
}

function title() {
  document.title = `${translate(shown[1])} · AgenticIQA`;
}

window.addEventListener('hashchange', showRoute);
document.addEventListener('languagechange', () => {
  sayAllAgain();
  title();
});
document.addEventListener('dragover', (event) => event.preventDefault()); // an image dropped elsewhere must not replace the page
document.addEventListener('drop', (event) => event.preventDefault());
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault(); // the URL fragment belongs to the router
  main.focus();
});
sayAllAgain();
showRoute();
get('/tools').then(({ tools }) => {
  workbench.setTools(tools);
  sample.tools = workbench.tools;
}).catch(() => {}); // the header reports an unreachable server
