/* Describes which bytes of memory a copy uses. Pure. */

/* Terms (docs/glossary.md):
 *   hull: the smallest interval around a shape
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   shape: which bytes an operation uses, row by row
 */

#ifndef SC_TOOLS_SHAPE_H
#define SC_TOOLS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a copy: `rows` rows of `width_bytes`, whose starts are `pitch_bytes` apart. A
 * contiguous copy has one row. The hull is the smallest interval around all rows. Operations are
 * looked up by their hulls; rows decide whether two operations really use the same bytes. Rows of
 * width 0 have no bytes, however many they are. */
struct sc_shape {
    uintptr_t address;
    size_t width_bytes;
    size_t pitch_bytes;
    size_t rows;
};

/* A fold: the gaps within the rows of a shape. The shape of a three-dimensional copy has a row for
 * each slice. A slice has rows of its own, of `width_bytes`, whose starts are `pitch_bytes` apart.
 * A pitch of 0: there are no gaps. */
struct sc_fold {
    size_t width_bytes;
    size_t pitch_bytes;
};

/* Returns the length of the hull: from the shape's first byte to its last, gaps included. */
static inline size_t sc_shape_hull_bytes(const struct sc_shape *shape)
{
    if (!shape->rows || !shape->width_bytes)
        return 0;
    return (shape->rows - 1) * shape->pitch_bytes + shape->width_bytes;
}

/* A run: bytes of a shape without a gap. All code that reads, copies or counts the bytes of a shape
 * does so run by run, in order. A packed copy stores the runs one after the other. */
struct sc_run {
    uintptr_t address;
    size_t size_bytes;
    /* How many bytes of the shape come before the run: its offset in a packed copy. */
    size_t before_bytes;
};

/* A walk over the runs (bytes without a gap) of a shape. */
struct sc_runs {
    struct sc_shape shape; /* adjoining rows are merged into one */
    struct sc_fold fold; /* each row has `inner_count` runs of `width_bytes`, `pitch_bytes` apart */
    size_t inner_count;
    uintptr_t from, to; /* bytes outside of this interval are left out */
    size_t row, inner;  /* the next run */
};

/* Begin an iteration over the runs of a shape: all, or those from one address to another. */
struct sc_runs sc_shape_runs(const struct sc_shape *shape, const struct sc_fold *fold);
struct sc_runs sc_shape_runs_between(const struct sc_shape *shape, const struct sc_fold *fold,
                                     uintptr_t from, uintptr_t to);
/* Stores the next run of the walk, a piece of bytes without a gap. False: there is none. */
bool sc_shape_next_run(struct sc_runs *runs, struct sc_run *run);

/* Return how many bytes the shape has, without the gaps: in all, or from one address to another. */
size_t sc_shape_folded_bytes(const struct sc_shape *shape, const struct sc_fold *fold);
size_t sc_shape_used_between(const struct sc_shape *shape, const struct sc_fold *fold,
                             uintptr_t from, uintptr_t to);

/* Returns how many bytes the shape has, without the gaps between rows and in them. */
static inline size_t sc_shape_used_bytes(const struct sc_shape *shape, const struct sc_fold *fold)
{
    return fold->pitch_bytes ? sc_shape_folded_bytes(shape, fold)
                             : shape->rows * shape->width_bytes;
}

/* Is the shape one run: do all bytes of its hull belong to it? */
static inline bool sc_shape_is_whole(const struct sc_shape *shape, const struct sc_fold *fold)
{
    return !fold->pitch_bytes && (shape->rows == 1 || shape->pitch_bytes == shape->width_bytes);
}

/* Are the rows disjoint, so that none extends into the next one? A copy may have a pitch smaller
 * than its width. */
bool sc_shape_rows_are_apart(const struct sc_shape *shape, const struct sc_fold *fold);

/* Have the shapes' hulls (sc_shape_hulls_touch), or the shapes themselves (sc_shapes_touch), a
 * common byte? */
bool sc_shape_hulls_touch(const struct sc_shape *a, const struct sc_shape *b);
bool sc_shapes_touch(const struct sc_shape *a, const struct sc_shape *b);

/* Have two shapes, whose rows may have gaps, a common byte? */
bool sc_shapes_folded_touch(const struct sc_shape *a, const struct sc_fold *a_fold,
                            const struct sc_shape *b, const struct sc_fold *b_fold);

/* Have a single row, and a shape whose rows may have gaps, a common byte? */
bool sc_shape_row_touches_folded(const struct sc_shape *row, const struct sc_shape *shape,
                                 const struct sc_fold *fold);

#endif
