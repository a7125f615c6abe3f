/* Copies of rows, of two or three dimensions, with gaps between them: those are nobody's, and what
 * is done there is no affair of the copy. On the device they lie as on the host.
 *
 * Everything that asks for bytes of a copy asks here. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_ROWS_H
#define SC_TESTS_FUZZ_RANDOM_ROWS_H

struct span {
    size_t offset, size_bytes;
};

static int run_count(const struct copy *copy)
{
    return copy->rows.count ? copy->rows.count * copy->rows.slices : 1;
}

/* From the first byte of the copy on. */
static struct span run_at(const struct copy *copy, int run)
{
    const struct rows *rows = &copy->rows;
    if (!rows->count)
        return (struct span){0, copy->size_bytes};
    size_t slice = (size_t)(run / rows->count), row = (size_t)(run % rows->count);
    return (struct span){slice * rows->slice_bytes + row * rows->pitch, rows->row_bytes};
}

/* A run with a byte from the one place to the other, or NOBODY. */
static int run_between(const struct copy *copy, size_t start, size_t end)
{
    int run = 0;
    while (run < run_count(copy)) {
        struct span span = run_at(copy, run);
        if (span.offset < end && start < span.offset + span.size_bytes)
            return run;
        run++;
    }
    return NOBODY;
}

static uintptr_t end_of(const struct copy *copy)
{
    return copy->address + copy->size_bytes;
}

/* The gaps count as well. */
static bool reaches_into(const struct copy *copy, uintptr_t start, uintptr_t end)
{
    return copy->address < end && start < end_of(copy);
}

static bool has_byte_in(const struct copy *copy, uintptr_t start, uintptr_t end)
{
    size_t from = start > copy->address ? start - copy->address : 0;
    return reaches_into(copy, start, end) && run_between(copy, from, end - copy->address) != NOBODY;
}

/* The first byte there; 0: none. */
static uintptr_t first_byte_in(const struct copy *copy, uintptr_t start, uintptr_t end)
{
    if (!has_byte_in(copy, start, end))
        return 0;
    size_t from = start > copy->address ? start - copy->address : 0;
    size_t run = run_at(copy, run_between(copy, from, end - copy->address)).offset;
    return copy->address + (run > from ? run : from);
}

static bool share_a_byte(const struct copy *a, const struct copy *b)
{
    bool share = false;
    if (a->buffer != b->buffer || a->life != b->life)
        return false;
    for (int run = 0; run < run_count(a) && !share; run++) {
        struct span span = run_at(a, run);
        size_t start = a->offset + span.offset, end = start + span.size_bytes;
        share = end > b->offset && run_between(b, start > b->offset ? start - b->offset : 0,
                                               end - b->offset) != NOBODY;
    }
    return share;
}

static bool has_same_rows(const struct copy *a, const struct copy *b)
{
    return memcmp(&a->rows, &b->rows, sizeof a->rows) == 0;
}

/* Of many rows that lie far apart there is none. */
static bool may_have_snapshot(const struct copy *copy, size_t most_bytes)
{
    enum { ROWS_MAX = 64, HULL_MAX = 128 * 1024 };
    const struct rows *rows = &copy->rows;
    size_t used = rows->count ? rows->row_bytes * (size_t)run_count(copy) : copy->size_bytes;
    bool near = copy->size_bytes <= HULL_MAX || (rows->slices == 1 && rows->count <= ROWS_MAX);
    return used <= most_bytes && (!rows->count || near);
}

/* In place of a plain copy of all of it: what is left of it keeps its first byte. */
static void pick_rows(struct copy *copy)
{
    struct rows *rows = &copy->rows;
    if (!(world.kinds & ROWS) || copy->direction > D2H || one_in(2))
        return;
    int count = 2 + (one_in(4) ? below(60) : below(6));
    int slices = one_in(3) ? 2 + below(3) : 1;
    int height = count + (slices > 1 ? 1 + below(2) : 0);
    int total = (slices - 1) * height + count;
    size_t pitch = copy->size_bytes / (size_t)total;
    if (pitch < 2)
        return;
    rows->count = count;
    rows->slices = slices;
    rows->pitch = pitch;
    rows->row_bytes = 1 + (size_t)below((int)pitch - 1);
    rows->slice_bytes = slices > 1 ? pitch * (size_t)height : 0;
    copy->size_bytes = (size_t)(total - 1) * pitch + rows->row_bytes;
}

/* Onto bytes that lie as those of the copy do. */
static void move_runs(const struct copy *copy, unsigned char *to, const unsigned char *from)
{
    for (int run = 0; run < run_count(copy); run++) {
        struct span span = run_at(copy, run);
        memcpy(to + span.offset, from + span.offset, span.size_bytes);
    }
}

/* Managed memory by its unified address, as the host's it would be another copy. */
static CUmemorytype type_of(int kind)
{
    return kind == MANAGED ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
}

static void copy_rows(const struct copy *copy, CUdeviceptr device, CUstream stream)
{
    const struct rows *rows = &copy->rows;
    size_t height = rows->slices > 1 ? rows->slice_bytes / rows->pitch : (size_t)rows->count;
    bool down = copy->direction == D2H;
    const CUmemorytype own = type_of(world.buffers[copy->buffer].kind);
    CUDA_MEMCPY3D box = {.srcMemoryType = down ? CU_MEMORYTYPE_DEVICE : own,
                         .dstMemoryType = down ? own : CU_MEMORYTYPE_DEVICE,
                         .srcPitch = rows->pitch,
                         .srcHeight = height,
                         .dstPitch = rows->pitch,
                         .dstHeight = height,
                         .WidthInBytes = rows->row_bytes,
                         .Height = (size_t)rows->count,
                         .Depth = (size_t)rows->slices};
    CUDA_MEMCPY2D sheet = {.srcMemoryType = box.srcMemoryType,
                           .dstMemoryType = box.dstMemoryType,
                           .srcPitch = rows->pitch,
                           .dstPitch = rows->pitch,
                           .WidthInBytes = rows->row_bytes,
                           .Height = (size_t)rows->count};
    sheet.srcHost = box.srcHost = down ? NULL : (const void *)copy->address;
    sheet.srcDevice = box.srcDevice = down ? device : copy->address;
    sheet.dstHost = box.dstHost = down ? (void *)copy->address : NULL;
    sheet.dstDevice = box.dstDevice = down ? copy->address : device;
    if (rows->slices > 1)
        CHECK(cuMemcpy3DAsync(&box, stream));
    else
        CHECK(cuMemcpy2DAsync(&sheet, stream));
}

#endif
