/* Codes of hazards, and the report's words for them.
 *
 * Nothing here allocates, locks or fails; every function is pure and safe in a signal handler. The
 * words are in common/hazard.def and common/op_kinds.def. They are a contract with users of the
 * report (docs/hazards.md, report/schema.json). */

/* Terms (docs/glossary.md):
 *   beside: of work: issued by the capturing thread during a capture, and run at once
 *   complete: finished by the device, whether or not the program knows
 *   deferred: of a free: done later, when the hold on the memory has ended
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   in flight: issued, and the host does not know yet that it is done
 *   latent: of a hazard: the operation was complete at the event, by luck
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 */

#ifndef SC_WORDS_HAZARD_WORDS_H
#define SC_WORDS_HAZARD_WORDS_H

enum sc_buffer_kind;
enum sc_direction;

/* Codes in the order of docs/hazards.md. The enum is dense, so its values may change; the printed
 * codes are stable. */
enum sc_hazard_code {
#define SC_HAZARD(code, name, subject, advice) code,
#include "common/hazard.def"
    SC_HAZARD_CODE_COUNT
};

/* What the mistake is about, in the order of the values: a copy in flight; a stream that captures;
 * a node of a graph that is launched; work beside a capture that belongs into its graph; memory
 * that is still held; a limit of a context. */
enum sc_hazard_subject {
    SC_OF_COPY,
    SC_OF_CAPTURE,
    SC_OF_NODE,
    SC_OF_NEIGHBOUR,
    SC_OF_MEMORY,
    SC_OF_LIMIT
};

/* "observed": the operation was incomplete at the event; "latent": it happened to be complete, but
 * nothing the program had done ensured that. */
enum sc_certainty { SC_LATENT, SC_OBSERVED };

/* What the library did about a hazard: deferred a free, ordered a call, ... (docs/hazards.md). */
enum sc_action {
#define SC_ACTION(action, word, outcome) action,
#include "common/hazard.def"
};

/* Return the report's word for a value, for example "SC101", "source-freed-in-flight", "deferred".
 */
const char *sc_hazard_code_string(enum sc_hazard_code code);
const char *sc_hazard_name(enum sc_hazard_code code);
const char *sc_hazard_certainty_string(enum sc_certainty certainty);
const char *sc_hazard_action_string(enum sc_action action);
const char *sc_hazard_buffer_kind_string(enum sc_buffer_kind kind);
const char *sc_hazard_direction_string(enum sc_direction direction);

/* Returns what hazards with this code are about. */
enum sc_hazard_subject sc_hazard_subject(enum sc_hazard_code code);

#endif
