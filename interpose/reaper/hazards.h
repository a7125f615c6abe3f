/* Makes hazards for the report out of what the tracker found.
 *
 * Thread safe, not signal safe. Locks: no lock of the library may be held; the reaper's and the
 * report's are taken, one after the other. Functions that report keep errno.
 */
#ifndef SC_INTERPOSE_REAPER_HAZARDS_H
#define SC_INTERPOSE_REAPER_HAZARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_action;
enum sc_direction;
enum sc_hazard_code;
enum sc_touch;
struct sc_culprit;
struct sc_graph_author;
struct sc_graph_extra;
struct sc_graph_race;
struct sc_graph_use;
struct sc_hazard_copy;
struct sc_hazard_event;
struct sc_judged;
struct sc_later;
struct sc_op_info;
struct sc_ops;
struct sc_point;

/* The buffer as the program knows it. */
struct sc_buffer {
    uintptr_t address;
    size_t size_bytes;
};

/* The allocation or registration that an operation lies in, or else its own bytes. */
struct sc_buffer sc_hazards_buffer_of(const struct sc_op_info *op);

/* Reports sources that were found changed when their operations became known done. `where` is the
 * call that found the change, and not the one that made it. */
void sc_hazards_report_overwritten(const struct sc_ops *ops, const struct sc_culprit *where);

/* Notes that everything before the point is known done (sc_track_note_known), and reports sources
 * that were found changed. */
void sc_hazards_note_done_and_report(struct sc_point *point, const struct sc_culprit *where);

/* Reports operations on locals of functions that have returned. The event is the return, and its
 * stack the function. */
void sc_hazards_report_returned(const struct sc_ops *ops);

/* The code of a hazard by which a free comes too early, by the direction of the operation that it
 * hurts. */
enum sc_hazard_code sc_hazards_free_code(enum sc_direction direction);

/* Is a call that comes too early for this operation healed? For what a kernel may use, only if
 * `kernels` says so. */
bool sc_hazards_heals(const struct sc_op_info *op);

/* The code of a hazard by which a touch comes before the operation has ended. */
enum sc_hazard_code sc_hazards_touch_code(const struct sc_op_info *op, enum sc_touch touch);

/* Reports one hazard for each operation. The code SC_HAZARD_CODE_COUNT means sc_hazards_free_code.
 * Makes no CUDA call, so libc hooks may call this. */
void sc_hazards_report(enum sc_hazard_code code, enum sc_action action, const struct sc_ops *ops,
                       const struct sc_buffer *buffer, const struct sc_culprit *culprit);
/* Reports one missing order: operation `i` of `ops` and the culprit are in no order. `later`: what
 * the culprit does (interpose/reaper/excuses.h); a host function may excuse it. */
void sc_hazards_report_order(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_ops *ops, unsigned i, const struct sc_later *later,
                             const struct sc_culprit *culprit);
/* Reports a touch by the program itself, which a host function may excuse. */
void sc_hazards_report_touch(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_ops *ops, const struct sc_buffer *buffer,
                             const struct sc_culprit *culprit);

/* Judges operations before it is known what becomes of the call (judged.h). Calls the driver: not
 * for a libc hook that the driver may call. */
void sc_hazards_judge(struct sc_judged *judged);

/* Reports such operations afterwards. */
void sc_hazards_report_judged(enum sc_hazard_code code, enum sc_action action,
                              const struct sc_judged *judged, const struct sc_buffer *buffer,
                              const struct sc_culprit *culprit);

/* Reports a call that breaks a capture, or would without the library. `begin` is the call that
 * began the capture. */
void sc_hazards_report_capture(enum sc_hazard_code code, enum sc_action action,
                               const struct sc_hazard_copy *begin,
                               const struct sc_culprit *culprit);

/* Reports a launch whose node uses memory that is gone. */
void sc_hazards_report_graph(enum sc_hazard_code code, enum sc_action action,
                             const struct sc_graph_use *use, const struct sc_graph_extra *extra,
                             const struct sc_culprit *culprit);

/* Reports a launch of a graph with two nodes that no edge orders (SC501). It is not known whether
 * they did harm. */
void sc_hazards_report_race(const struct sc_graph_race *race, const struct sc_culprit *culprit);

/* The call that added a node of a graph, as a hazard's event. */
struct sc_hazard_event sc_hazards_author(const struct sc_graph_author *author);

/* Which call made the device memory at the address (track/origins.h); 0: that is not known. */
uint32_t sc_hazards_origin(uintptr_t address);

/* The culprit's call as a hazard's event. */
struct sc_hazard_event sc_hazards_event(const struct sc_culprit *culprit);

#endif
