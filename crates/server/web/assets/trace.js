// The live trace: the steps of the agent while they happen, then time, tokens and cost.
import { announce, fill, h, say } from './dom.js';
import { cost, duration, raw, score } from './format.js';
import { translate } from './i18n.js';

/** @typedef {import('../types.js').ToolLog} ToolLog */
/** @typedef {import('../types.js').Plan} Plan */
/** @typedef {import('../types.js').Metadata} Metadata */

/** The list of nodes, steps and tools. */
export class Trace {
  constructor() {
    this.list = h('ol', { class: 'plain trace' });
    this.state = h('span', { class: 'state' });
    this.clock = h('span', { class: 'clock figure' });
    this.total = h('p', { class: 'totals small' });
    this.fold = h('details', { open: true }, h('summary', {}, h('h3', { t: 'trace.title' }), this.state, this.clock), this.list, this.total);
    this.element = h('section', { class: 'panel tracing', label: 'trace.title', hidden: true }, this.fold);
    /** @type {Map<string, HTMLElement>} */
    this.nodes = new Map();
    this.started = 0;
    this.timer = 0;
    this.silent = false;
  }

  /** Clears the trace. */
  begin() {
    this.clear();
    this.element.hidden = false;
    this.fold.open = true;
    this.started = performance.now();
    this.#state('running');
    const tick = () => { this.clock.textContent = duration((performance.now() - this.started) / 1000); };
    tick();
    this.timer = setInterval(tick, 100);
  }

  clear() {
    clearInterval(this.timer);
    fill(this.list);
    fill(this.total);
    this.nodes.clear();
    this.clock.textContent = '';
    this.element.hidden = true;
  }

  /** Ends the trace and collapses it if there is an answer. @param {'done' | 'canceled' | 'failed'} state */
  end(state) {
    clearInterval(this.timer);
    if (state === 'done') this.fold.open = false;
    this.#state(state);
    this.list.querySelectorAll('.running').forEach((item) => item.classList.remove('running'));
    announce(translate(`trace.${state}`));
  }

  /** @param {string} state */
  #state(state) {
    say(this.state, 't', `trace.${state}`);
    this.state.dataset.state = state;
  }

  /** @param {string} name @param {any} data an event of the server @param {boolean} [silent] whether to skip the announcement */
  take(name, data, silent = false) {
    this.silent = silent;
    /** @type {Record<string, () => void>} */
    const events = {
      started: () => this.#note('trace.answers', { names: [...new Set(Object.values(data.backends ?? {}))].join(', ') }, 'who'),
      node_started: () => this.#node(data.node, data.iteration),
      node_ended: () => this.#nodeEnded(data),
      plan: () => this.plan(data.plan ?? data, data.iteration ?? 0),
      subtask_ended: () => this.#subtask(data),
      tool_ended: () => this.#tool(data.log),
      model_call: () => this.#call(data.call),
      retry: () => this.#note('trace.retry', { backend: data.backend, attempt: data.attempt, reason: data.reason }, 'warning'),
      fallback: () => this.#note('trace.fallback', { from: data.from, to: data.to }, 'warning'),
      replan: () => this.#note('trace.replan', { round: data.iteration + 2, reason: data.reason }, 'warning'),
    };
    events[name]?.();
  }

  /** Returns the list of steps of a node, and creates it if needed. @param {string} node @param {number} iteration */
  #node(node, iteration) {
    const key = `${node} ${iteration}`;
    const known = this.nodes.get(key);
    if (known) return known;
    const steps = h('ul', { class: 'plain steps' });
    const title = h('div', { class: 'row between' },
      h('span', { class: 'title', t: iteration > 0 ? [`node.${node}.again`, { round: iteration + 1 }] : `node.${node}` }), h('span', { class: 'time figure' }));
    this.list.append(h('li', { class: 'node running' }, title, steps));
    this.nodes.set(key, steps);
    this.#tell(translate(`node.${node}`));
    return steps;
  }

  /** Returns the steps of the current node. */
  #last() {
    return [...this.nodes.values()].at(-1) ?? this.#node('planner', 0);
  }

  /** @param {{node: string, iteration: number, seconds: number, plan?: Plan}} data */
  #nodeEnded(data) {
    const steps = this.#node(data.node, data.iteration);
    const item = steps.parentElement;
    item?.classList.remove('running');
    item?.classList.add('ended');
    const time = item?.querySelector('.time');
    if (time) time.textContent = duration(data.seconds);
    if (data.plan) this.plan(data.plan, data.iteration);
  }

  /** Shows the plan below the planner of that round. @param {Plan} plan @param {number} iteration */
  plan(plan, iteration) {
    const steps = this.#node('planner', iteration);
    const scope = Array.isArray(plan.query_scope) ? plan.query_scope.join(', ') : translate(`object.${plan.query_scope}`);
    const wanted = Object.entries(plan.plan).filter(([, on]) => on).map(([step]) => translate(`step.${step}`));
    const called = [...steps.querySelectorAll('.call')];
    fill(steps, ...called,
      h('li', {}, h('span', { t: 'plan.scope' }), ' ', h('b', {}, scope), ' · ', h('span', { t: `plan.${plan.reference_mode}` })),
      h('li', { class: 'faint' }, wanted.length > 0 ? wanted.join(' → ') : translate('plan.nothing')));
  }

  /** @param {{subtask: string, seconds: number, problem: string | null}} data */
  #subtask(data) {
    const item = h('li', { class: data.problem ? 'warning' : '' },
      h('div', { class: 'row between' }, h('span', { t: `step.${data.subtask}` }), h('span', { class: 'time figure' }, duration(data.seconds))),
      data.problem ? h('div', { class: 'small' }, data.problem) : null);
    this.#last().append(item);
  }

  /** @param {ToolLog} log */
  #tool(log) {
    const where = log.object_name === 'Global' ? null : h('span', { class: 'faint' }, log.object_name);
    const marks = [log.cached ? 'trace.cached' : null, log.fallback ? 'trace.deputy' : null].filter((key) => key !== null);
    const item = h('li', { class: log.error ? 'tool warning' : 'tool' },
      h('div', { class: 'row between' },
        h('span', {}, h('b', {}, log.tool_name), ' ', where, ...marks.map((key) => h('span', { class: 'tag', t: key }))),
        h('span', { class: 'time figure' }, duration(log.execution_time))),
      log.error ? h('div', { class: 'small' }, log.error)
        : h('div', { class: 'small faint figure', t: ['trace.score', { raw: raw(log.raw_score), score: score(log.normalized_score) }] }));
    this.#last().append(item);
    this.#tell(`${log.tool_name} ${log.error ?? score(log.normalized_score)}`);
  }

  /** @param {import('../types.js').ModelCall} call */
  #call(call) {
    const tokens = call.prompt_tokens + call.completion_tokens;
    const steps = [...this.nodes].findLast(([key]) => key.startsWith(`${call.node} `))?.[1] ?? this.#last();
    steps.append(h('li', { class: 'call' },
      h('div', { class: 'row between' }, h('span', {}, h('span', { t: `call.${call.task}` }), ' ', h('span', { class: 'faint' }, call.backend),
        call.cached ? h('span', { class: 'tag', t: 'trace.cached' }) : null), h('span', { class: 'time figure' }, duration(call.seconds))),
      h('div', { class: 'small faint figure', t: ['trace.call', { tokens, images: call.images, cost: cost(call.cost_usd) }] })));
  }

  /** @param {string} key @param {Record<string, string | number>} values @param {string} kind */
  #note(key, values, kind) {
    this.list.append(h('li', { class: `note ${kind}`, t: [key, values] }));
    this.#tell(translate(key, values));
  }

  /** @param {string} text */
  #tell(text) {
    if (!this.silent) announce(text);
  }

  /** Shows the trace of a stored record. @param {import('../types.js').AssessmentRecord} record */
  recall(record) {
    this.clear();
    for (const [name, data] of eventsOfRecord(record)) this.take(name, data, true);
    this.finish(record.plan, record.metadata);
    this.list.querySelectorAll('.running').forEach((item) => item.classList.remove('running'));
    this.clock.textContent = duration(record.metadata.execution_time_ms / 1000);
    this.#state(record.metadata.final_status === 'error' ? 'failed' : 'done');
    this.fold.open = false;
    this.element.hidden = false;
  }

  /**
   * Adds what is known only at the end: the plan, if it was not sent earlier, and the totals.
   * @param {Plan | null} plan @param {Metadata} metadata
   */
  finish(plan, metadata) {
    const planner = this.nodes.get(`planner ${metadata.iteration_count}`) ?? [...this.nodes.values()][0];
    if (plan && planner && planner.querySelectorAll(':scope > :not(.call)').length === 0) this.plan(plan, Number(this.nodes.has(`planner ${metadata.iteration_count}`) ? metadata.iteration_count : 0));
    fill(this.total, ...totals(metadata));
  }
}

/**
 * Reconstructs the events of a finished record in a plausible order.
 * @param {import('../types.js').AssessmentRecord} record
 * @returns {[string, any][]}
 */
export function eventsOfRecord({ plan, executor_evidence: evidence, metadata }) {
  const iteration = metadata.iteration_count;
  const node = (/** @type {'planner' | 'executor' | 'summarizer'} */ name) => /** @type {[string, any][]} */ ([
    ['node_started', { node: name, iteration }],
    ...(name === 'planner' && plan ? [['plan', { plan, iteration }]] : []),
    ...(metadata.calls ?? []).filter((call) => call.node === name).map((call) => ['model_call', { call }]),
    ...(name === 'executor' ? (evidence?.tool_logs ?? []).map((log) => ['tool_ended', { log }]) : []),
    ['node_ended', { node: name, iteration, seconds: Number(metadata.node_times_ms?.[name] ?? NaN) / 1000 }],
  ]);
  const replans = metadata.replan_history.map((replan) => /** @type {[string, any]} */ (['replan', replan]));
  return [['started', { backends: metadata.backends }], ...replans, ...node('planner'), ...node('executor'), ...node('summarizer')];
}

/**
 * Returns time, rounds, tokens and cost.
 * @param {Metadata} metadata
 */
export function totals(metadata) {
  const tokens = Object.values(metadata.tokens_used ?? {}).reduce((sum, count) => sum + Number(count), 0);
  return [
    h('span', { t: ['totals.time', { time: duration(metadata.execution_time_ms / 1000) }] }),
    h('span', { t: ['totals.rounds', { count: metadata.iteration_count + 1 }] }),
    h('span', { t: ['totals.tokens', { count: tokens }] }),
    h('span', { t: ['totals.cost', { cost: cost(metadata.cost_usd) }] }),
  ];
}
