/* What the program says of its own calls through include/safecopy.h: a label for what it is doing
 * (a test, a request, a step), and that hazards of some calls are to be ignored. Hazards are marked
 * with both.
 *
 * Thread-safe. Locks: one of the module's own, a leaf, held with asynchronous signals blocked. The
 * program's text is copied before it is taken. A thread that sets a label or ignores hazards has a
 * record until it ends. */
#ifndef SC_REPORT_ANNOTATIONS_H
#define SC_REPORT_ANNOTATIONS_H

#include <stdatomic.h>
#include <stdint.h>

struct sc_hazard;

/* How many reasons and labels are told apart; all further ones count as one. */
enum { SC_REASONS_MAX = 64, SC_LABELS_MAX = 257 };

/* Labels the process with the value of SAFECOPY_LABEL, in which a test leaves its label for the
 * processes that it starts. */
void sc_annotations_start(void);

/* Sets the label of the process. NULL or "" takes the label away; a long label is cut. */
void sc_annotations_label(const char *label);

/* Sets the label of the calling thread, which goes before that of the process. */
void sc_annotations_label_thread(const char *label);

/* From begin to end, hazards whose event is on the calling thread are ignored, for `reason`. Pairs
 * may be nested; then the reason of the outermost pair counts. */
void sc_annotations_ignore_begin(const char *reason);
void sc_annotations_ignore_end(void);

/* Fills in hazard->label and hazard->ignored. Must be called on the thread of the hazard's event.
 */
void sc_annotations_note(struct sc_hazard *hazard);

/* The label of the calling thread's calls as a number, which keeps its meaning; 0: there is no
 * label. Takes two loads. The 256th label and all further ones have one number. */
extern __thread uint32_t sc_annotations_own_label;
extern _Atomic uint32_t sc_annotations_process_label;
static inline uint32_t sc_annotations_label_here(void)
{
    return sc_annotations_own_label
               ? sc_annotations_own_label
               : atomic_load_explicit(&sc_annotations_process_label, memory_order_relaxed);
}

/* The text of the label with that number; NULL for 0. */
const char *sc_annotations_label_text(uint32_t number);

/* The reason that hazard->ignored = `index` stands for. Reasons are numbered from 1 on; NULL past
 * the last. */
const char *sc_annotations_reason(unsigned index);

/* In a forked child: makes the lock free, which another thread of the parent may have held. */
void sc_annotations_child(void);

#endif
