/* What operations do to memory. */
#include "work.h"
#include "engine.h"
#include "virtual.h"

#include <stdlib.h>
#include <string.h>

/* What a thread of the driver's touches it touches itself, and faults. */
static void read_part(char *to, uintptr_t src, enum sim_access access, size_t bytes)
{
    if (access == ACCESS_SAFE)
        sim_dma_read(to, src, bytes);
    else
        memcpy(to, (const void *)src, bytes);
}

static void write_part(uintptr_t dst, enum sim_access access, const char *from, size_t bytes)
{
    if (access == ACCESS_SAFE)
        sim_dma_write(dst, from, bytes);
    else
        memcpy((void *)dst, from, bytes);
}

static void move(uintptr_t dst, enum sim_access dst_access, uintptr_t src,
                 enum sim_access src_access, size_t bytes)
{
    char bounce[16384];
    if (dst_access != ACCESS_SAFE && src_access != ACCESS_SAFE) {
        memmove((void *)dst, (const void *)src, bytes);
    } else if (dst_access == ACCESS_DIRECT) {
        sim_dma_read((void *)dst, src, bytes);
    } else if (src_access == ACCESS_DIRECT) {
        sim_dma_write(dst, (const void *)src, bytes);
    } else {
        for (size_t at = 0; at < bytes; at += sizeof bounce) {
            size_t part = bytes - at < sizeof bounce ? bytes - at : sizeof bounce;
            read_part(bounce, src + at, src_access, part);
            write_part(dst + at, dst_access, bounce, part);
        }
    }
}

/* A device that finds no memory at an address takes the context down. */
static bool faults(uintptr_t address, bool mapped)
{
    if (!mapped || !sim_virtual_is_lost(address))
        return false;
    atomic_store(&sim_fault, CUDA_ERROR_LAUNCH_FAILED);
    return true;
}

static void run_copy(const struct sim_copy *c)
{
    size_t width = c->width, height = c->height, depth = c->depth;
    if (sim_copy_empty(c) || faults(c->src, c->src_mapped) || faults(c->dst, c->dst_mapped))
        return;
    if (height > 1 && c->src_pitch == width && c->dst_pitch == width) {
        width *= height;
        height = 1;
    }
    if (depth > 1 && height == 1 && c->src_slice == width && c->dst_slice == width) {
        width *= depth;
        depth = 1;
    }
    for (size_t z = 0; z < depth; z++) {
        for (size_t y = 0; y < height; y++) {
            move(c->dst + z * c->dst_slice + y * c->dst_pitch, c->dst_access,
                 c->src + z * c->src_slice + y * c->src_pitch, c->src_access, width);
        }
    }
}

static void fill_row(void *to, const struct sim_fill *fill, size_t elements)
{
    if (fill->element == 1)
        memset(to, (int)(fill->value & 0xff), elements);
    else if (fill->element == 2)
        for (size_t i = 0; i < elements; i++)
            ((uint16_t *)to)[i] = (uint16_t)fill->value;
    else
        for (size_t i = 0; i < elements; i++)
            ((uint32_t *)to)[i] = fill->value;
}

static void run_fill(const struct sim_fill *fill)
{
    uint32_t piece[1024];
    size_t most = sizeof piece / fill->element;
    if (faults(fill->dst, fill->mapped))
        return;
    for (size_t y = 0; y < fill->height; y++) {
        uintptr_t row = fill->dst + y * fill->pitch;
        if (fill->access != ACCESS_SAFE) {
            fill_row((void *)row, fill, fill->width);
            continue;
        }
        fill_row(piece, fill, fill->width < most ? fill->width : most);
        for (size_t x = 0; x < fill->width; x += most) {
            size_t part = fill->width - x < most ? fill->width - x : most;
            sim_dma_write(row + x * fill->element, piece, part * fill->element);
        }
    }
}

/* The word is the program's and not _Atomic: hence the builtins here and in read_value. */
static void run_write(const struct sim_value *v)
{
    if (v->access == ACCESS_SAFE)
        sim_dma_write(v->address, &v->value, v->wide ? 8 : 4);
    else if (v->wide)
        __atomic_store_n((uint64_t *)v->address, v->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)v->address, (uint32_t)v->value, __ATOMIC_RELEASE);
}

static void end_wait(const struct sim_value *v)
{
    const struct sim_value none = {.address = v->address, .wide = v->wide, .access = v->access};
    if (v->is_taken)
        run_write(&none);
}

static void reach(struct sim_record *record)
{
    atomic_store(&record->time_ns, sim_now_ns());
    if (record->shared)
        atomic_store(&record->shared->reached, record->number);
}

void sim_work_run(struct sim_work *work)
{
    switch (work->kind) {
    case WORK_MARK:
        if (work->record)
            reach(work->record);
        break;
    case WORK_COPY:
    case WORK_KERNEL_COPY:
        run_copy(&work->copy);
        break;
    case WORK_FILL:
        run_fill(&work->fill);
        break;
    case WORK_WRITE_VALUE:
        run_write(&work->value);
        break;
    case WORK_WAIT_VALUE:
        end_wait(&work->value);
        break;
    case WORK_KERNEL_TOUCH:
        sim_activity_touched(&work->touch);
        break;
    case WORK_BAD_STORE:
        atomic_store(&sim_fault, CUDA_ERROR_ILLEGAL_ADDRESS);
        break;
    case WORK_FAULT:
        atomic_store(&sim_fault, CUDA_ERROR_LAUNCH_FAILED);
        break;
    default:
        break;
    }
}

static uint64_t read_value(const struct sim_value *v)
{
    uint64_t seen = 0;
    if (v->access == ACCESS_SAFE)
        sim_dma_read(&seen, v->address, v->wide ? 8 : 4);
    else if (v->wide)
        seen = __atomic_load_n((uint64_t *)v->address, __ATOMIC_ACQUIRE);
    else
        seen = __atomic_load_n((uint32_t *)v->address, __ATOMIC_ACQUIRE);
    return seen;
}

bool sim_work_value_reached(const struct sim_value *v)
{
    uint64_t mask = v->wide ? UINT64_MAX : UINT32_MAX;
    uint64_t seen = read_value(v), wanted = v->value & mask;
    switch (v->flags & 3) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return seen == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (seen & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return (~(seen | wanted) & mask) != 0;
    default:
        return v->wide ? (int64_t)(seen - wanted) >= 0 : (int32_t)(seen - wanted) >= 0;
    }
}

/* A turn at a time, as far as the bell has rung. */
bool sim_work_served(const struct sim_serve *serve)
{
    uint32_t served = (uint32_t)read_value(&serve->answer);
    while (served < serve->turns && (uint32_t)read_value(&serve->bell) > served) {
        struct sim_value answer = serve->answer;
        answer.value = ++served;
        run_write(&answer);
    }
    return served >= serve->turns;
}

static uint64_t transfer_ns(size_t bytes)
{
    return sim_options.bandwidth ? (uint64_t)((double)bytes * 1e9 / (double)sim_options.bandwidth)
                                 : 0;
}

uint64_t sim_work_busy_ns(const struct sim_work *work)
{
    switch (work->kind) {
    case WORK_MARK:
        return work->aside ? sim_options.aside_ns : 0;
    case WORK_COPY:
        return transfer_ns(work->copy.width * work->copy.height * work->copy.depth);
    case WORK_FILL:
        return transfer_ns(work->fill.width * work->fill.element * work->fill.height);
    case WORK_KERNEL:
        return work->kernel_ns;
    case WORK_KERNEL_COPY:
    case WORK_KERNEL_TOUCH:
        return sim_options.kernel_ns;
    default:
        return 0;
    }
}
