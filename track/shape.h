/* Which bytes of memory a copy uses. Pure. */
#ifndef SC_TRACK_SHAPE_H
#define SC_TRACK_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `rows` of `width_bytes`, `pitch_bytes` apart; a plain copy has one row. The hull is what is
 * looked up; rows decide whether two operations really touch the same bytes. Rows of no width have
 * no bytes, however many they are. */
struct sc_shape {
    uintptr_t address;
    size_t width_bytes;
    size_t pitch_bytes;
    size_t rows;
};

/* The gaps in the rows of a shape. The shape of a three-dimensional copy has a row for each slice.
 * A slice is a run of rows of `width_bytes`, `pitch_bytes` apart. A pitch of 0: there are no gaps.
 */
struct sc_fold {
    size_t width_bytes;
    size_t pitch_bytes;
};

static inline size_t sc_shape_hull_bytes(const struct sc_shape *shape)
{
    if (!shape->rows || !shape->width_bytes)
        return 0;
    return (shape->rows - 1) * shape->pitch_bytes + shape->width_bytes;
}

bool sc_shape_hulls_touch(const struct sc_shape *a, const struct sc_shape *b);
bool sc_shapes_touch(const struct sc_shape *a, const struct sc_shape *b);

/* The same question about two shapes that may have gaps in their rows. */
bool sc_shapes_folded_touch(const struct sc_shape *a, const struct sc_fold *a_fold,
                            const struct sc_shape *b, const struct sc_fold *b_fold);

/* The same question about a single row, and a shape that may have gaps in its rows. */
bool sc_shape_row_touches_folded(const struct sc_shape *row, const struct sc_shape *shape,
                                 const struct sc_fold *fold);

#endif
