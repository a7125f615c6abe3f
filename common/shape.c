#include "common/shape.h"

#include "common/poison.h"

/* Returns how many runs (bytes without a gap) each row of the shape has: one, unless the fold says
 * that the row itself has gaps, as a slice of a three-dimensional copy has. */
static size_t inner_count(const struct sc_shape *shape, const struct sc_fold *fold)
{
    return fold->pitch_bytes ? (shape->width_bytes - fold->width_bytes) / fold->pitch_bytes + 1 : 1;
}

/* Begins a walk over the runs (bytes without a gap) of the shape between two addresses. A shape
 * without gaps is one run. If rows do not overlap, the walk begins at the row in which `from`
 * lies, since walking there row by row would take long. */
struct sc_runs sc_shape_runs_between(const struct sc_shape *shape, const struct sc_fold *fold,
                                     uintptr_t from, uintptr_t to)
{
    struct sc_runs runs = {*shape, *fold, inner_count(shape, fold), from, to, 0, 0};
    if (!fold->pitch_bytes)
        runs.fold = (struct sc_fold){shape->width_bytes, 0};
    if (sc_shape_is_whole(shape, fold)) {
        runs.fold.width_bytes = sc_shape_hull_bytes(shape);
        runs.shape.rows = runs.fold.width_bytes ? 1 : 0;
    }
    if (from > shape->address && runs.shape.rows > 1 && sc_shape_rows_are_apart(shape, fold))
        runs.row = (from - shape->address) / shape->pitch_bytes;
    return runs;
}

/* Begins a walk over all runs (bytes without a gap) of the shape. */
struct sc_runs sc_shape_runs(const struct sc_shape *shape, const struct sc_fold *fold)
{
    return sc_shape_runs_between(shape, fold, 0, UINTPTR_MAX);
}

/* Skips the runs of a row that lie before the interval that is walked over; only where the walk
 * enters the row, and where runs do not overlap. */
static void enter_row(struct sc_runs *runs, uintptr_t row_start)
{
    size_t pitch = runs->fold.pitch_bytes;
    if (runs->inner == 0 && pitch >= runs->fold.width_bytes && pitch && runs->from > row_start)
        runs->inner = (runs->from - row_start) / pitch;
}

/* Stores the next run (bytes without a gap) of a walk over a shape: of each row the pieces of
 * `width` that the fold (the gaps within rows) leaves, cut where the interval begins and ends, with
 * the offset that the piece has in a copy of the shape without gaps. False: there is none left. */
bool sc_shape_next_run(struct sc_runs *runs, struct sc_run *run)
{
    for (; runs->row < runs->shape.rows; runs->row++, runs->inner = 0) {
        uintptr_t row_start = runs->shape.address + runs->row * runs->shape.pitch_bytes;
        if (row_start >= runs->to)
            return false;
        enter_row(runs, row_start);
        while (runs->inner < runs->inner_count) {
            size_t width = runs->fold.width_bytes;
            size_t before = (runs->row * runs->inner_count + runs->inner) * width;
            uintptr_t start = row_start + runs->inner * runs->fold.pitch_bytes;
            uintptr_t from = start > runs->from ? start : runs->from;
            uintptr_t to = start + width < runs->to ? start + width : runs->to;
            runs->inner++;
            if (from >= to)
                continue;
            *run = (struct sc_run){from, to - from, before + (from - start)};
            return true;
        }
    }
    return false;
}

/* Returns how many bytes a shape has whose rows have gaps (`fold`). */
size_t sc_shape_folded_bytes(const struct sc_shape *shape, const struct sc_fold *fold)
{
    if (!sc_shape_hull_bytes(shape))
        return 0;
    return shape->rows * inner_count(shape, fold) * fold->width_bytes;
}

/* Returns how many bytes of the interval belong to the shape, without those in gaps. */
size_t sc_shape_used_between(const struct sc_shape *shape, const struct sc_fold *fold,
                             uintptr_t from, uintptr_t to)
{
    struct sc_runs runs = sc_shape_runs_between(shape, fold, from, to);
    struct sc_run run;
    size_t bytes = 0;
    while (sc_shape_next_run(&runs, &run))
        bytes += run.size_bytes;
    return bytes;
}

/* Does no row, and no run within a row, extend into the next one? A copy may have a pitch that is
 * smaller than its width; then bytes cannot be found by division. */
bool sc_shape_rows_are_apart(const struct sc_shape *shape, const struct sc_fold *fold)
{
    return (shape->rows <= 1 || shape->pitch_bytes >= shape->width_bytes) &&
           (!fold->pitch_bytes || fold->pitch_bytes >= fold->width_bytes);
}

/* Have the smallest intervals around the two shapes a common byte? A cheap question before the
 * rows are compared. */
bool sc_shape_hulls_touch(const struct sc_shape *a, const struct sc_shape *b)
{
    return a->address < b->address + sc_shape_hull_bytes(b) &&
           b->address < a->address + sc_shape_hull_bytes(a);
}

/* Does the single row `one` overlap one of the rows of `many`? Only two of these can reach it, if
 * rows do not overlap: the last one that begins before it, and the next. */
static bool rows_touch_one(const struct sc_shape *one, const struct sc_shape *many)
{
    size_t first = 0;
    if (one->address > many->address && many->pitch_bytes)
        first = (one->address - many->address) / many->pitch_bytes;
    for (size_t row = first; row < many->rows && row <= first + 1; row++) {
        uintptr_t start = many->address + row * many->pitch_bytes;
        if (start < one->address + one->width_bytes && one->address < start + many->width_bytes)
            return true;
    }
    return false;
}

/* Do rows of the two shapes overlap? If the pitches are equal, two neighbouring rows stand for
 * all, as columns are compared modulo the pitch: the two at which the other shape begins. If they
 * differ, the rows of the shape with fewer rows are compared with the other. */
static bool any_rows_touch(const struct sc_shape *a, const struct sc_shape *b)
{
    const struct sc_shape *fewer = a->rows <= b->rows ? a : b;
    const struct sc_shape *other = fewer == a ? b : a;
    size_t rows = fewer->pitch_bytes == other->pitch_bytes && fewer->rows > 2 ? 2 : fewer->rows;
    size_t skip = 0;
    if (rows != fewer->rows && other->address > fewer->address && fewer->pitch_bytes)
        skip = (other->address - fewer->address) / fewer->pitch_bytes;
    if (skip + rows > fewer->rows)
        skip = fewer->rows - rows;
    for (size_t row = skip; row < skip + rows; row++) {
        struct sc_shape one = {fewer->address + row * fewer->pitch_bytes, fewer->width_bytes,
                               fewer->width_bytes, 1};
        if (rows_touch_one(&one, other))
            return true;
    }
    return false;
}

/* Have the two shapes a common byte? For shapes whose rows have no gaps. */
bool sc_shapes_touch(const struct sc_shape *a, const struct sc_shape *b)
{
    if (!sc_shape_hulls_touch(a, b))
        return false;
    return (a->rows <= 1 && b->rows <= 1) || any_rows_touch(a, b);
}

/* Returns one row of a shape as a shape of its own, which has several rows if the row has gaps
 * (`fold`): a slice of a three-dimensional copy. */
static struct sc_shape slice_of(const struct sc_shape *shape, const struct sc_fold *fold,
                                size_t row)
{
    uintptr_t start = shape->address + row * shape->pitch_bytes;
    if (!fold->pitch_bytes)
        return (struct sc_shape){start, shape->width_bytes, shape->width_bytes, 1};
    size_t rows = (shape->width_bytes - fold->width_bytes) / fold->pitch_bytes + 1;
    return (struct sc_shape){start, fold->width_bytes, fold->pitch_bytes, rows};
}

/* Does the slice overlap one of the rows of a shape with gaps? It is compared with those rows that
 * its bytes can reach. */
static bool slice_touches(const struct sc_shape *slice, const struct sc_shape *shape,
                          const struct sc_fold *fold)
{
    uintptr_t end = slice->address + sc_shape_hull_bytes(slice);
    size_t row = 0;
    if (slice->address > shape->address && shape->pitch_bytes)
        row = (slice->address - shape->address) / shape->pitch_bytes;
    for (; row < shape->rows && shape->address + row * shape->pitch_bytes < end; row++) {
        struct sc_shape other = slice_of(shape, fold, row);
        if (sc_shapes_touch(slice, &other))
            return true;
    }
    return false;
}

/* Have two shapes a common byte, whose rows may have gaps (the folds; pitch 0: none)? Without gaps
 * they are compared as they are, and that shows most pairs to be apart. Else each row of the shape
 * with fewer rows is compared with the other shape. */
bool sc_shapes_folded_touch(const struct sc_shape *a, const struct sc_fold *a_fold,
                            const struct sc_shape *b, const struct sc_fold *b_fold)
{
    if (!sc_shapes_touch(a, b))
        return false;
    if (!a_fold->pitch_bytes && !b_fold->pitch_bytes)
        return true;
    if (a->rows > b->rows)
        return sc_shapes_folded_touch(b, b_fold, a, a_fold);
    for (size_t row = 0; row < a->rows; row++) {
        struct sc_shape slice = slice_of(a, a_fold, row);
        if (slice_touches(&slice, b, b_fold))
            return true;
    }
    return false;
}

/* Does the interval, given by offsets in a row of a shape with gaps, touch one of the row's runs?
 * It does if it begins in a run, or reaches the next one. */
static bool touches_inner_run(const struct sc_fold *fold, size_t from, size_t to)
{
    size_t row = from / fold->pitch_bytes * fold->pitch_bytes;
    return from < to && (from - row < fold->width_bytes || row + fold->pitch_bytes < to);
}

/* Does a single row overlap a shape whose rows may have gaps (`fold`)? It can reach two
 * neighbouring rows of the shape at most. */
bool sc_shape_row_touches_folded(const struct sc_shape *row, const struct sc_shape *shape,
                                 const struct sc_fold *fold)
{
    bool touches = sc_shapes_touch(shape, row);
    if (!touches || !fold->pitch_bytes)
        return touches;
    uintptr_t end = row->address + row->width_bytes;
    size_t from = row->address > shape->address ? row->address - shape->address : 0;
    size_t first = shape->pitch_bytes ? from / shape->pitch_bytes : 0;
    for (size_t slice = first; slice < shape->rows && slice <= first + 1; slice++) {
        uintptr_t start = shape->address + slice * shape->pitch_bytes;
        if (start >= end)
            break;
        size_t inner_from = row->address > start ? row->address - start : 0;
        size_t inner_to = end - start < shape->width_bytes ? end - start : shape->width_bytes;
        if (touches_inner_run(fold, inner_from, inner_to))
            return true;
    }
    return false;
}
