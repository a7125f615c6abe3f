/* Keeps what the program says about its own calls through include/safecopy.h: a label for what it
 * is doing (a test, a request, a step), and that hazards of some calls are to be ignored. Reported
 * hazards carry both.
 *
 * Thread-safe. Locks: one of this module's, a leaf, held with asynchronous signals blocked. The
 * program's text is copied before the lock is taken. A thread that sets a label or ignores hazards
 * has a record until the thread ends. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   label: what the program calls what it does: a test, a request, a step
 */

#ifndef SC_REPORT_ANNOTATIONS_H
#define SC_REPORT_ANNOTATIONS_H

#include <stdatomic.h>
#include <stdint.h>

struct sc_hazard;

/* How many different reasons and labels are kept; all further ones count as one. */
enum { SC_REASONS_MAX = 64, SC_LABELS_MAX = 257 };

/* Labels the process with the value of SAFECOPY_LABEL, in which a test leaves its label for the
 * processes that it starts. Called once, as the library starts. */
void sc_annotations_start(void);

/* Sets the label of the process (a test, a request, a step, as the program calls it), which
 * hazards then carry in the report. NULL or "" takes the label away; a long one is cut. */
void sc_annotations_label(const char *label);

/* Sets the label of the calling thread, which its hazards carry instead of the process's. "": the
 * process's counts again. */
void sc_annotations_label_thread(const char *label);

/* From begin to end, hazards whose event (the call or access that came too early) is on the calling
 * thread are ignored, for `reason`. Pairs may be nested; then the reason of the outermost pair
 * counts. */
void sc_annotations_ignore_begin(const char *reason);
void sc_annotations_ignore_end(void);

/* Stores the program's label in the hazard, and the number of the reason to ignore it (0: none).
 * Called when a hazard is found, on the thread whose call or access came too early, since labels
 * and reasons are by thread. */
void sc_annotations_note(struct sc_hazard *hazard);

/* The numbers of the labels of the calling thread and of the process; 0: none.
 * sc_annotations_label_here returns the one that holds for a call made now, by two loads. A number
 * keeps its meaning for as long as the process lives. All labels from the 256th on share one
 * number. */
extern __thread uint32_t sc_annotations_own_label;
extern _Atomic uint32_t sc_annotations_process_label;

/* Returns the number of the label that calls of this thread have now: its own, or else the
 * process's; 0: none. */
static inline uint32_t sc_annotations_label_here(void)
{
    return sc_annotations_own_label
               ? sc_annotations_own_label
               : atomic_load_explicit(&sc_annotations_process_label, memory_order_relaxed);
}

/* Returns the text of the label with that number, for the report; NULL for 0, which is no
 * label. */
const char *sc_annotations_label_text(uint32_t number);

/* Returns the reason with number `index`, as stored in hazard->ignored. Numbers begin at 1; NULL
 * past the last one. */
const char *sc_annotations_reason(unsigned index);

/* Initialises the lock in a forked child: another thread of the parent may have held it at the
 * fork, and it would never be released. */
void sc_annotations_child(void);

#endif
