// Types of server responses, for the type checker only. This file is not served.

/**
 * A stored image.
 * @typedef {object} Image
 * @property {string} id
 * @property {string} name
 * @property {number} width
 * @property {number} height
 * @property {string} [format]
 * @property {string[]} [notes] conversions applied when decoding
 */

/** @typedef {{name: string, x: number, y: number, width: number, height: number, origin?: string, probability?: number}} Region */

/**
 * A question that an image makes interesting.
 * @typedef {object} SuggestedQuestion
 * @property {string} en
 * @property {string} zh
 */

/**
 * One run of one tool.
 * @typedef {object} ToolLog
 * @property {string} tool_name
 * @property {string} object_name
 * @property {string} distortion
 * @property {number | null} raw_score
 * @property {number | null} normalized_score
 * @property {[number, number] | null} [interval]
 * @property {number} execution_time
 * @property {boolean} [fallback]
 * @property {string | null} [error]
 * @property {[number, number, number, number] | null} [region]
 * @property {boolean} [cached]
 */

/** @typedef {{type: string, severity: string, explanation: string}} Analysis */

/** @typedef {{problem: string, operation: string, amount: number, before: number, after: number, gain_interval: [number, number], doubtful: boolean}} WhatIf */
/** @typedef {{tried: WhatIf[], lost?: string[], skipped?: string[], refusal?: string}} WhatIfs */

/**
 * What an image or an object looks like on one axis.
 * @typedef {object} Attribute
 * @property {string} level
 * @property {string} direction
 * @property {number} value from -1 to 1 on signed axes, from 0 to 1 on others
 * @property {number} probability of the level
 * @property {string} [kind]
 * @property {string} [reason] why the level is "not applicable"
 * @property {{name: string, value: number, unit?: string}[]} [measurements]
 */

/**
 * @typedef {object} Evidence
 * @property {Record<string, string[]> | null} [distortion_set]
 * @property {Record<string, Record<string, Attribute>> | null} [attributes]
 * @property {Record<string, WhatIfs> | null} [what_if]
 * @property {Record<string, Analysis[]> | null} [distortion_analysis]
 * @property {Record<string, Record<string, any>> | null} [selected_tools]
 * @property {Record<string, Record<string, any>> | null} [quality_scores]
 * @property {ToolLog[]} tool_logs
 * @property {Disagreement[]} [disagreements]
 */

/**
 * @typedef {object} Plan
 * @property {string} query_type
 * @property {string | string[]} query_scope
 * @property {string} distortion_source
 * @property {Record<string, string[]> | null} [distortions]
 * @property {string} reference_mode
 * @property {string | string[] | null} [required_tool]
 * @property {Record<string, boolean>} plan
 */

/**
 * @typedef {object} Conclusion
 * @property {string} final_answer
 * @property {'score' | 'choice' | 'text'} answer_form
 * @property {number | null} quality_score
 * @property {[number, number]} [score_interval]
 * @property {Fusion} [fusion]
 * @property {{name: string, value: number, interval?: [number, number]}[]} [contributions] parts that sum to the score
 * @property {{object: string, operation: string, amount: number, expected_gain: number}[]} [advice]
 * @property {string[]} [recommendations]
 * @property {string | null} quality_level
 * @property {string} quality_reasoning
 * @property {{sentence: string, evidence: string[]}[]} used_evidence
 * @property {Disagreement[]} [disagreements]
 */

/** @typedef {{by: string, value: string, reason?: string}} Claim */
/** @typedef {{object: string, about: string, claimed: Claim, measured: Claim, levels: number}} Disagreement */

/**
 * A view of the image that models were sent.
 * @typedef {object} View
 * @property {'crop' | 'brightened'} kind
 * @property {string} shows
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number} [stops]
 * @property {number} bytes
 * @property {string} [requested_by]
 */

/**
 * One call to a model.
 * @typedef {object} ModelCall
 * @property {'planner' | 'executor' | 'summarizer'} node
 * @property {string} backend
 * @property {string} task
 * @property {number} images
 * @property {number} prompt_tokens
 * @property {number} completion_tokens
 * @property {number | null} cost_usd
 * @property {number} seconds
 * @property {boolean} [cached]
 */

/** @typedef {{planner: any, executor: any, summarizer: any}} ByNode */

/**
 * @typedef {object} Metadata
 * @property {number} execution_time_ms
 * @property {number} iteration_count
 * @property {{iteration: number, reason: string}[]} replan_history
 * @property {'success' | 'partial' | 'error'} final_status
 * @property {string[] | null} [error_details]
 * @property {string} timestamp
 * @property {ByNode} backends
 * @property {'grounded' | 'paper'} [mode]
 * @property {ModelCall[]} [calls]
 * @property {{max_crops: number, max_side: number, max_rounds: number, kept_side: number, sent: View[]}} [views]
 * @property {ByNode} tokens_used
 * @property {number | null} cost_usd
 * @property {ByNode} [node_times_ms]
 * @property {string[]} [notes]
 */

/**
 * How the scores of the tools and the judgment were combined.
 * @typedef {object} Fusion
 * @property {number} tools combined score of the tools
 * @property {number[]} weights of the five levels, by the tools
 * @property {number[] | null} [probabilities] of the five levels, by the judgment
 */

/**
 * @typedef {object} AssessmentRecord
 * @property {string} sample_id
 * @property {string} query
 * @property {{letter: string, text: string}[]} options
 * @property {Region[]} regions
 * @property {Plan | null} plan
 * @property {Evidence | null} executor_evidence
 * @property {Conclusion | null} summarizer_result
 * @property {{backend: string, result: Conclusion | null, error?: string, agrees: boolean | null}} [second_opinion]
 * @property {Metadata} metadata
 */

/**
 * Response of `POST /assess`.
 * @typedef {object} Answer
 * @property {string} id
 * @property {string | null} image_id
 * @property {string | null} reference_id
 * @property {AssessmentRecord} record
 */

/**
 * One entry of `GET /tools`.
 * @typedef {object} Tool
 * @property {string} name
 * @property {'FR' | 'NR'} type
 * @property {boolean | null} lower_is_better null for plain measurements
 * @property {[number | null, number | null] | null} range
 * @property {string} description
 * @property {string[]} strengths
 * @property {boolean} available
 * @property {string | null} reason
 * @property {boolean} has_map
 */

/**
 * One row of `POST /score`.
 * @typedef {object} ScoreRow
 * @property {string | null} region
 * @property {string} tool
 * @property {'FR' | 'NR'} type
 * @property {boolean | null} lower_is_better
 * @property {number | null} raw_score
 * @property {number | null} normalized_score
 * @property {[number, number]} [interval]
 * @property {number} execution_time
 * @property {string | null} error
 */

/**
 * @typedef {object} Job
 * @property {string} id
 * @property {string | null} name
 * @property {'queued' | 'running' | 'done' | 'stopped' | 'failed' | 'interrupted'} state
 * @property {number} total
 * @property {number} done
 * @property {number} ok
 * @property {number} errors
 * @property {number | null} rate
 * @property {number | null} eta_seconds
 * @property {number | null} tokens
 * @property {number | null} cost_usd
 * @property {string} created
 * @property {string | null} finished
 * @property {string | null} problem
 */

/**
 * One image of a job.
 * @typedef {object} JobRow
 * @property {string} sample_id
 * @property {string} image_name
 * @property {string} thumbnail
 * @property {number | null} score
 * @property {string | null} level
 * @property {[number, number] | null} interval
 * @property {string | null} answer
 * @property {{name: string, severity: string | null}[]} distortions
 * @property {Record<string, number>} tools
 * @property {string} status
 * @property {string | null} error
 * @property {number | null} ms
 */

/**
 * @typedef {object} Results
 * @property {number} total
 * @property {number} matching
 * @property {number} hidden
 * @property {JobRow[]} rows
 * @property {{edges: number[], counts: number[], matching: number[]}} histogram
 * @property {{distortions: Record<string, number>, severities: Record<string, number>, tools: string[]}} facets
 */

export {};
