/* What the program says of its own calls, by include/safecopy.h: a label for what it does, and that
 * hazards are to be ignored.
 *
 * Thread safe. A leaf lock is held over copying, with asynchronous signals blocked. A thread that
 * says something of itself alone has a record until it ends.
 */
#ifndef SC_REPORT_ANNOTATIONS_H
#define SC_REPORT_ANNOTATIONS_H

#include <stdatomic.h>
#include <stdint.h>

struct sc_hazard;

/* So many reasons are told apart; further ones are counted together. */
enum { SC_REASONS_MAX = 64, SC_LABELS_MAX = 257 };

/* Labels the process as SAFECOPY_LABEL says, by which a test labels its children. */
void sc_annotations_start(void);

/* Labels the process, or the calling thread, which comes before the process. NULL or "" takes the
 * label away; a long one is cut. */
void sc_annotations_label(const char *label);
void sc_annotations_label_thread(const char *label);

/* Hazards whose event is on the calling thread are ignored from now on, and until the end. Within
 * another begin and end the reason of the outer ones counts. */
void sc_annotations_ignore_begin(const char *reason);
void sc_annotations_ignore_end(void);

/* Fills in label and ignored, on the thread of the hazard's event. */
void sc_annotations_note(struct sc_hazard *hazard);

/* The label of the calling thread's calls, as a number that stays; 0: there is none. Two loads. The
 * 256th and all further ones are one. */
extern __thread uint32_t sc_annotations_own_label;
extern _Atomic uint32_t sc_annotations_process_label;
static inline uint32_t sc_annotations_label_here(void)
{
    return sc_annotations_own_label
               ? sc_annotations_own_label
               : atomic_load_explicit(&sc_annotations_process_label, memory_order_relaxed);
}

/* The label of such a number; NULL: of 0. */
const char *sc_annotations_label_text(uint32_t number);

/* The reason of an `ignored`; NULL past the last. Index 0 is none. */
const char *sc_annotations_reason(unsigned index);

/* In a forked child: no other thread has the lock. */
void sc_annotations_child(void);

#endif
