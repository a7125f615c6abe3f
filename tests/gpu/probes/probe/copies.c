/* Which copies and memsets block, and which read late. */
#include "world.h"

#include <string.h>

/* ---- Q5, Q6: synchronous calls beside a busy stream ---- */

static void sync_copies(enum work work, CUstream busy, const char *label)
{
    static const size_t sizes[] = {16, 4 * KB, 64 * KB, MB};

    for (int is_pinned = 0; is_pinned < 2; is_pinned++) {
        say(" %s %s %s", label, work_names[work], is_pinned ? "pinned" : "pageable");
        for (size_t i = 0; i < COUNT(sizes); i++) {
            occupy(work, busy, BUSY_MS);
            say(" %.3f", MS(cuMemcpyHtoD(dev_a, is_pinned ? pinned : pageable, sizes[i])));
            settle();
        }
        say(";");
    }
}

void q5(void)
{
    for (enum work work = KERNEL; work < WORKS; work++) {
        sync_copies(work, blocking, "B busy:");
        sync_copies(work, nonblocking, "N busy:");
    }
}

static void sync_others(CUstream busy, const char *label)
{
    for (enum work work = KERNEL; work < WORKS; work++) {
        say(" %s %s", label, work_names[work]);
        occupy(work, busy, BUSY_MS);
        say(" memset pinned %.3f", MS(cuMemsetD8(uva(pinned), 1, 4 * KB)));
        settle();
        occupy(work, busy, BUSY_MS);
        say(" memset device %.3f", MS(cuMemsetD8(dev_a, 1, 4 * KB)));
        settle();
        occupy(work, busy, BUSY_MS);
        say(" DtoH pinned %.3f", MS(cuMemcpyDtoH(pinned, dev_a, 4 * KB)));
        settle();
        occupy(work, busy, BUSY_MS);
        say(" DtoH pageable %.3f;", MS(cuMemcpyDtoH(pageable, dev_a, 4 * KB)));
        settle();
    }
}

void q6(void)
{
    sync_others(blocking, "B busy:");
    sync_others(nonblocking, "N busy:");
}

/* ---- Q10, Q11: less usual asynchronous calls behind a busy stream ---- */

/* One call behind BUSY_MS of work on the non-blocking stream. */
#define BEHIND(label, call)                                                                        \
    do {                                                                                           \
        occupy(KERNEL, nonblocking, BUSY_MS);                                                      \
        double took_ms_ = MS(call);                                                                \
        say(" %s %.3f %s;", label, took_ms_, took_ms_ > BUSY_MS / 2 ? "blocks" : "at once");       \
    } while (0)

void q10(void)
{
    BEHIND("DtoDAsync from pinned", cuMemcpyDtoDAsync(dev_a, uva(pinned), 4 * KB, nonblocking));
    settle();
    BEHIND("DtoDAsync to pinned", cuMemcpyDtoDAsync(uva(pinned), dev_a, 4 * KB, nonblocking));
    settle();
    BEHIND("MemcpyAsync pinned->pinned",
           cuMemcpyAsync(uva(pinned2), uva(pinned), 4 * KB, nonblocking));
    settle();

    BEHIND("MemcpyAsync pinned->pageable",
           cuMemcpyAsync(uva(pageable), uva(pinned), 4 * KB, nonblocking));
    settle();

    memset(pageable, 1, 4 * KB);
    BEHIND("MemcpyAsync pageable->pinned",
           cuMemcpyAsync(uva(pinned), uva(pageable), 4 * KB, nonblocking));
    memset(pageable, 2, 4 * KB);
    settle();
    say(" arrives");
    say_bytes(pinned, 4 * KB, 1);
    say(";");

    memset(pageable, 1, 4 * KB);
    BEHIND("MemcpyAsync pageable->pageable",
           cuMemcpyAsync(uva(pageable + MB), uva(pageable), 4 * KB, nonblocking));
    settle();
}

void q11(void)
{
    CUDA_MEMCPY2D flat = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = pinned,
        .srcPitch = 128,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = dev_a,
        .dstPitch = 256,
        .WidthInBytes = 100,
        .Height = 16,
    };
    CUDA_MEMCPY3D deep = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = pinned,
        .srcPitch = 128,
        .srcHeight = 16,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = dev_a,
        .dstPitch = 256,
        .dstHeight = 16,
        .WidthInBytes = 100,
        .Height = 16,
        .Depth = 4,
    };

    BEHIND("2DAsync pinned", cuMemcpy2DAsync(&flat, nonblocking));
    settle();
    BEHIND("3DAsync pinned", cuMemcpy3DAsync(&deep, nonblocking));
    settle();
    flat.srcHost = pageable;
    deep.srcHost = pageable;
    BEHIND("2DAsync pageable", cuMemcpy2DAsync(&flat, nonblocking));
    settle();
    BEHIND("3DAsync pageable", cuMemcpy3DAsync(&deep, nonblocking));
    settle();

    memset(pinned, 1, 4 * KB);
    BEHIND("MemsetD8Async on pinned", cuMemsetD8Async(uva(pinned), 2, 4 * KB, nonblocking));
    say(" host sees %d at once,", pinned[0]);
    settle();
    say(" %d when done", pinned[0]);
}

/* ---- Q14: batch copies from pageable memory ---- */

static void batch_copy(size_t size_bytes, CUmemcpySrcAccessOrder order)
{
    CUmemcpyAttributes attributes;
    CUdeviceptr destination = dev_a, source = uva(pageable);
    size_t first = 0;

    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = order;
    memset(pageable, 1, size_bytes);
    TRY(cuMemsetD8(dev_a, 3, size_bytes));
    settle();
    occupy(KERNEL, nonblocking, BUSY_MS);
    double took = MS(cuMemcpyBatchAsync(&destination, &source, &size_bytes, 1, &attributes, &first,
                                        1, nonblocking));
    memset(pageable, 2, size_bytes);
    settle();
    TRY(cuMemcpyDtoH(pinned, dev_a, size_bytes));
    say(" %zuK %.3f", size_bytes / KB, took);
    if (pinned[0] == 3)
        say(" NEVER WRITTEN");
    else
        say_bytes(pinned, size_bytes, 1);
    say(",");
}

void q14(void)
{
    static const size_t sizes[] = {4 * KB, 16 * KB, 64 * KB, 128 * KB, 256 * KB, 512 * KB, MB};

    say(" DURING_API_CALL:");
    for (size_t i = 0; i < COUNT(sizes); i++)
        batch_copy(sizes[i], CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
    say(" ANY:");
    for (size_t i = 0; i < COUNT(sizes); i++)
        batch_copy(sizes[i], CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
}
