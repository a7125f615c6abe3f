/* probe_pinned: asks the CUDA driver what its pinned and registered host memory is like.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probe_pinned.c \
 *         -o probe_pinned -lcuda
 *     ./probe_pinned            every section, under a minute
 *     ./probe_pinned layout     these only
 *
 * interpose/pinned.c serves pinned allocations from registered memory and has to answer for them
 * as the driver does for its own; here is what that means. Each section runs in a child process,
 * so that one that crashes costs its own lines only.
 *
 * A set of answers that several pointers give alike is printed once, under a letter. In it,
 * "+n" is an address n bytes behind the buffer's first, "same" the one asked for, S the size that
 * was asked for, A and B the two contexts, id an identifier other than 0, and e<n> an error.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KB 1024UL
#define MB (1024UL * KB)
#define HUGE_BYTES (2 * MB)
#define SECTION_LIMIT_S 25
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static CUdevice device;
static CUcontext context_a;
static CUcontext context_b;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static CUcontext make_context(void)
{
    CUcontext made = NULL;
    CUresult rc = cuCtxCreate_v4(&made, NULL, 0, device);
    if (rc != CUDA_SUCCESS)
        printf("cuCtxCreate: %d\n", (int)rc);
    return made;
}

static bool start(void)
{
    CUresult rc = cuInit(0);
    if (rc == CUDA_SUCCESS)
        rc = cuDeviceGet(&device, 0);
    if (rc != CUDA_SUCCESS)
        printf("cannot start: %d\n", (int)rc);
    else
        context_a = make_context();
    return rc == CUDA_SUCCESS && context_a;
}

static const char *size_text(size_t bytes)
{
    static char text[8][24];
    static unsigned turn;
    char *to = text[turn++ % COUNT(text)];
    if (bytes >= MB && bytes % MB == 0)
        snprintf(to, sizeof text[0], "%zuM", bytes / MB);
    else if (bytes >= KB && bytes % KB == 0)
        snprintf(to, sizeof text[0], "%zuK", bytes / KB);
    else
        snprintf(to, sizeof text[0], "%zu", bytes);
    return to;
}

/* ---- buffers of every kind ---- */

static char *map_pages(size_t bytes, int more)
{
    int kind = more & MAP_SHARED ? 0 : MAP_PRIVATE;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | more, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* As interpose/pinned.c does it: shared, as the driver's own memory is, and then made huge. */
static char *map_shared_huge(size_t bytes)
{
    size_t whole = (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
    char *wide = mmap(NULL, whole + HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = (char *)(((uintptr_t)wide + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
    int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
    if (wide == MAP_FAILED || mmap(at, whole, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < whole; i += HUGE_BYTES)
        madvise(at + i, 4096, MADV_POPULATE_WRITE);
    if (madvise(at, whole, MADV_COLLAPSE) != 0)
        printf("MADV_COLLAPSE of %zu: %s\n", whole, strerror(errno));
    munmap(wide, (size_t)(at - wide));
    munmap(at + whole, (size_t)(wide + HUGE_BYTES - at));
    return at;
}

/* Private memory, 2 MB aligned, huge pages wanted. */
static char *map_huge(size_t bytes)
{
    char *at = map_pages(bytes + HUGE_BYTES, 0);
    if (!at)
        return NULL;
    char *aligned = (char *)(((uintptr_t)at + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
    if (aligned > at)
        munmap(at, (size_t)(aligned - at));
    munmap(aligned + bytes, (size_t)(at + HUGE_BYTES - aligned));
    madvise(aligned, bytes, MADV_HUGEPAGE);
    return aligned;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + 4 * KB - 1) & ~(4 * KB - 1);
}

/* ---- answers of the query functions ---- */

struct text {
    char bytes[2048];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int wrote =
        vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used, format, arguments);
    va_end(arguments);
    if (wrote > 0 && text->used + (size_t)wrote < sizeof text->bytes)
        text->used += (size_t)wrote;
}

static void add_address(struct text *text, uint64_t address, uint64_t base, uint64_t asked_for)
{
    if (!address)
        add(text, "NULL");
    else if (address == asked_for && address != base)
        add(text, "same");
    else if (address - base < 1UL << 40 || base - address < 1UL << 30)
        add(text, "%+lld", (long long)(address - base));
    else
        add(text, "elsewhere");
}

static void add_size(struct text *text, uint64_t bytes, size_t asked)
{
    if (bytes == asked)
        add(text, "S");
    else
        add(text, "%s", size_text(bytes));
}

enum shape { INT, ADDRESS, SIZE, CONTEXT, ID, TOKENS, POOL };

static const struct {
    CUpointer_attribute which;
    enum shape shape;
    const char *name;
} attributes[] = {
    {CU_POINTER_ATTRIBUTE_CONTEXT, CONTEXT, "context"},
    {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, INT, "type"},
    {CU_POINTER_ATTRIBUTE_DEVICE_POINTER, ADDRESS, "device"},
    {CU_POINTER_ATTRIBUTE_HOST_POINTER, ADDRESS, "host"},
    {CU_POINTER_ATTRIBUTE_P2P_TOKENS, TOKENS, "tokens"},
    {CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, INT, "syncmemops"},
    {CU_POINTER_ATTRIBUTE_BUFFER_ID, ID, "bufferid"},
    {CU_POINTER_ATTRIBUTE_IS_MANAGED, INT, "managed"},
    {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, INT, "ordinal"},
    {CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, INT, "ipc"},
    {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, ADDRESS, "start"},
    {CU_POINTER_ATTRIBUTE_RANGE_SIZE, SIZE, "size"},
    {CU_POINTER_ATTRIBUTE_MAPPED, INT, "mapped"},
    {CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, ID, "handles"},
    {CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, INT, "rdma"},
    {CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, INT, "access"},
    {CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, POOL, "pool"},
    {CU_POINTER_ATTRIBUTE_MAPPING_SIZE, SIZE, "mapsize"},
    {CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, ADDRESS, "mapbase"},
    {CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, ID, "blockid"},
    {CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, INT, "decompress"},
};

/* Longer than any attribute; what a call leaves alone stays at the pattern. */
union value {
    unsigned char raw[32];
    int number;
    uint64_t wide;
    void *pointer;
    CUcontext context;
    CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens;
};

#define UNTOUCHED 0xABABABABABABABABULL

static void add_value(struct text *text, enum shape shape, const union value *value, uint64_t base,
                      uint64_t address, size_t asked)
{
    if (value->wide == UNTOUCHED)
        add(text, "untouched");
    else if (shape == ADDRESS)
        add_address(text, value->wide, base, address);
    else if (shape == SIZE)
        add_size(text, value->wide, asked);
    else if (shape == CONTEXT)
        add(text, "%s",
            !value->context               ? "NULL"
            : value->context == context_a ? "A"
            : value->context == context_b ? "B"
                                          : "other");
    else if (shape == ID)
        add(text, "%s", value->wide & 0xFFFFFFFFu ? "id" : "0");
    else if (shape == POOL)
        add(text, "%s", value->pointer ? "some" : "NULL");
    else
        add(text, "%d", value->number);
}

/* What every query says of `address`, which belongs to the buffer at `base`. */
static void answers(struct text *text, uint64_t address, uint64_t base, size_t asked)
{
    text->used = 0;
    for (unsigned i = 0; i < COUNT(attributes); i++) {
        union value value;
        memset(&value, 0xAB, sizeof value);
        CUresult rc = cuPointerGetAttribute(&value, attributes[i].which, address);
        add(text, "%s=", attributes[i].name);
        if (rc != CUDA_SUCCESS)
            add(text, "e%d", (int)rc);
        else
            add_value(text, attributes[i].shape, &value, base, address, asked);
        add(text, " ");
    }
    unsigned flags = 0;
    CUdeviceptr pointer = 0, start_address = 0;
    size_t range_bytes = 0;
    CUresult rc = cuMemHostGetFlags(&flags, (void *)(uintptr_t)address);
    add(text, rc ? "| getflags=e%d" : "| getflags=%d", rc ? (int)rc : (int)flags);
    rc = cuMemHostGetDevicePointer(&pointer, (void *)(uintptr_t)address, 0);
    add(text, " getdevice=");
    if (rc)
        add(text, "e%d", (int)rc);
    else
        add_address(text, pointer, base, address);
    rc = cuMemGetAddressRange(&start_address, &range_bytes, address);
    add(text, " range=");
    if (rc) {
        add(text, "e%d", (int)rc);
    } else {
        add_address(text, start_address, base, address);
        add(text, ":");
        add_size(text, range_bytes, asked);
    }
    union value many[COUNT(attributes)];
    void *places[COUNT(attributes)];
    CUpointer_attribute names[COUNT(attributes)];
    unsigned count = 0;
    memset(many, 0xAB, sizeof many);
    for (unsigned i = 0; i < COUNT(attributes); i++) {
        if (attributes[i].which == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
            continue;
        names[count] = attributes[i].which;
        places[count] = &many[count];
        count++;
    }
    rc = cuPointerGetAttributes(count, names, places, address);
    add(text, " | many=%d", (int)rc);
    for (unsigned i = 0, at = 0; i < COUNT(attributes); i++) {
        if (attributes[i].which == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
            continue;
        add(text, ",");
        add_value(text, attributes[i].shape, &many[at++], base, address, asked);
    }
}

static struct text known[52];
static unsigned known_count;

static char letter_of(uint64_t address, uint64_t base, size_t asked)
{
    static struct text text;
    answers(&text, address, base, asked);
    for (unsigned i = 0; i < known_count; i++)
        if (strcmp(known[i].bytes, text.bytes) == 0)
            return (char)(i < 26 ? 'a' + i : 'A' + i - 26);
    if (known_count == COUNT(known))
        return '?';
    known[known_count++] = text;
    return (char)(known_count <= 26 ? 'a' + known_count - 1 : 'A' + known_count - 27);
}

static void show_letters(const char *title, const char *at, size_t asked)
{
    uint64_t base = (uintptr_t)at;
    uint64_t last = asked ? asked - 1 : 0;
    printf("%-26s %6s  page+%-4lu first %c  middle %c  last %c  behind %c  page's end %c\n", title,
           size_text(asked), (unsigned long)(base % 4096), letter_of(base, base, asked),
           letter_of(base + asked / 2, base, asked), letter_of(base + last, base, asked),
           letter_of(base + asked, base, asked),
           letter_of(base + (asked ? whole_pages(asked) : 4096) - 1, base, asked));
}

static void show_known(void)
{
    for (unsigned i = 0; i < known_count; i++)
        printf("%c: %s\n", i < 26 ? 'a' + i : 'A' + i - 26, known[i].bytes);
}

static const size_t sizes[] = {0, 1, 8, 4096, 5000, MB, 3 * MB, 64 * MB};

static void section_attributes(void)
{
    char title[64];
    for (int flags = 0; flags <= 8; flags++)
        for (unsigned s = 0; s < COUNT(sizes); s++) {
            void *at = (void *)1;
            CUresult rc = flags == 8 ? cuMemAllocHost(&at, sizes[s])
                                     : cuMemHostAlloc(&at, sizes[s], (unsigned)flags);
            snprintf(title, sizeof title, flags == 8 ? "AllocHost" : "HostAlloc flags=%d", flags);
            if (rc != CUDA_SUCCESS) {
                printf("%-26s %6s  error %d, pointer %p\n", title, size_text(sizes[s]), (int)rc,
                       at);
                continue;
            }
            show_letters(title, at, sizes[s]);
            cuMemFreeHost(at);
        }
    for (unsigned flags = 0; flags < 4; flags++)
        for (unsigned s = 1; s < COUNT(sizes); s++) {
            char *at = map_huge(64 * MB);
            CUresult rc = cuMemHostRegister(at, sizes[s], flags);
            snprintf(title, sizeof title, "Register flags=%u", flags);
            if (rc == CUDA_SUCCESS)
                show_letters(title, at, sizes[s]);
            else
                printf("%s: %d\n", title, (int)rc);
            cuMemHostUnregister(at);
            rc = cuMemHostRegister(at + 100, sizes[s], flags);
            if (rc == CUDA_SUCCESS && s > 3) {
                snprintf(title, sizeof title, "Register flags=%u inside", flags);
                show_letters(title, at + 100, sizes[s]);
            }
            cuMemHostUnregister(at + 100);
            munmap(at, 64 * MB);
        }
    for (unsigned s = 1; s < COUNT(sizes); s++) {
        char *at = map_shared_huge(sizes[s]);
        if (cuMemHostRegister(at, sizes[s], 0) == CUDA_SUCCESS)
            show_letters("Register shared, huge", at, sizes[s]);
        cuMemHostUnregister(at);
        munmap(at, (sizes[s] + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
    }
    char *plain = map_pages(MB, 0);
    show_letters("not registered", plain, MB);
    CUdeviceptr dev = 0;
    cuMemAlloc(&dev, MB);
    printf("device memory: %c\n", letter_of(dev, dev, MB));
    show_known();
}

static void section_errors(void)
{
    void *a = NULL, *again = (void *)0x11;
    char *r = map_huge(4 * MB);
    CUdeviceptr dev = 0;
    memset(r, 1, 4 * MB);
    printf("AllocHost NULL pointer: %d\n", (int)cuMemAllocHost(NULL, 4096));
    printf("HostAlloc NULL pointer: %d, size 0 too: %d\n", (int)cuMemHostAlloc(NULL, 4096, 0),
           (int)cuMemHostAlloc(NULL, 0, 0));
    for (unsigned bit = 3; bit < 32; bit += 1)
        if (cuMemHostAlloc(&again, MB, 1u << bit) != CUDA_ERROR_INVALID_VALUE)
            printf("HostAlloc flag 1<<%u is known, %p\n", bit, again);
    printf("HostAlloc unknown flag 8: %d", (int)cuMemHostAlloc(&again, MB, 8));
    printf(", pointer %p\n", again);
    again = (void *)0x11;
    printf("HostAlloc size 0: %d", (int)cuMemHostAlloc(&again, 0, 0));
    printf(", pointer %p\n", again);
    const size_t big[] = {1UL << 60, (size_t)-1, (size_t)-4096, 1UL << 46, 1UL << 42};
    for (unsigned i = 0; i < COUNT(big); i++) {
        again = (void *)0x11;
        double before = now_us();
        CUresult rc = cuMemHostAlloc(&again, big[i], 0);
        printf("HostAlloc 0x%zx: %d, pointer %p, %.0f us\n", big[i], (int)rc, again,
               now_us() - before);
        if (rc == CUDA_SUCCESS)
            cuMemFreeHost(again);
    }
    for (int kind = 0; kind < 2; kind++) {
        size_t bytes = kind ? MB : 8;
        cuMemHostAlloc(&a, bytes, 0);
        printf("allocated %s: Unregister %d, inside %d", size_text(bytes),
               (int)cuMemHostUnregister(a), (int)cuMemHostUnregister((char *)a + 4));
        printf("; Register %d, inside %d, beyond %d, around %d",
               (int)cuMemHostRegister(a, bytes, 0), (int)cuMemHostRegister((char *)a + 4, 2, 0),
               (int)cuMemHostRegister((char *)a + bytes / 2, bytes, 0),
               (int)cuMemHostRegister((char *)((uintptr_t)a & ~4095UL), 4096, 0));
        printf("; FreeHost inside %d", (int)cuMemFreeHost((char *)a + 4));
        printf("; cuMemFree %d", (int)cuMemFree((CUdeviceptr)(uintptr_t)a));
        printf("; FreeHost %d", (int)cuMemFreeHost(a));
        printf("; twice %d; Unregister then %d\n", (int)cuMemFreeHost(a),
               (int)cuMemHostUnregister(a));
    }
    printf("registered: %d", (int)cuMemHostRegister(r, MB, 0));
    printf("; FreeHost %d, inside %d; cuMemFree %d", (int)cuMemFreeHost(r),
           (int)cuMemFreeHost(r + 4096), (int)cuMemFree((CUdeviceptr)(uintptr_t)r));
    printf("; Register again %d, inside %d, around %d", (int)cuMemHostRegister(r, MB, 0),
           (int)cuMemHostRegister(r + 4096, 4096, 0), (int)cuMemHostRegister(r, 2 * MB, 0));
    printf("; Unregister inside %d", (int)cuMemHostUnregister(r + 4096));
    printf("; Unregister %d", (int)cuMemHostUnregister(r));
    printf("; twice %d\n", (int)cuMemHostUnregister(r));
    printf("FreeHost: NULL %d, a mapping %d, a device address %d\n", (int)cuMemFreeHost(NULL),
           (int)cuMemFreeHost(r),
           (cuMemAlloc(&dev, MB), (int)cuMemFreeHost((void *)(uintptr_t)dev)));
    printf("Unregister: NULL %d, a device address %d\n", (int)cuMemHostUnregister(NULL),
           (int)cuMemHostUnregister((void *)(uintptr_t)dev));
    cuMemHostAlloc(&a, MB, 0);
    cuMemHostRegister(r, MB, 3);
    printf("copy across the end: allocated %d, registered %d\n",
           (int)cuMemcpyHtoDAsync(dev, (char *)a + MB - 4, 8, 0),
           (int)cuMemcpyHtoDAsync(dev, r + MB - 4, 8, 0));
    for (int kind = 0; kind < 2; kind++) {
        void *at = kind ? (void *)r : a;
        CUdeviceptr address = (uintptr_t)at, got = 0;
        CUipcMemHandle handle;
        CUmemGenericAllocationHandle generic = 0;
        CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
        int fd = -1, range_value = 0, one = 1;
        unsigned long long access = 0;
        printf("%s: IpcGetMemHandle %d", kind ? "registered" : "allocated",
               (int)cuIpcGetMemHandle(&handle, address));
        printf(", RetainAllocationHandle %d", (int)cuMemRetainAllocationHandle(&generic, at));
        printf(", HandleForAddressRange %d",
               (int)cuMemGetHandleForAddressRange(&fd, address, MB,
                                                  CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
        printf(", MemGetAccess %d", (int)cuMemGetAccess(&access, &here, address));
        printf(", Advise %d", (int)cuMemAdvise(address, MB, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
        printf(", Prefetch %d", (int)cuMemPrefetchAsync(address, MB, here, 0, 0));
        printf(", RangeGetAttribute %d",
               (int)cuMemRangeGetAttribute(&range_value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                           address, MB));
        printf(", AttachMem %d", (int)cuStreamAttachMemAsync(0, address, 0, CU_MEM_ATTACH_GLOBAL));
        printf(", FreeAsync %d", (int)cuMemFreeAsync(address, 0));
        printf(", SetAttribute SYNC_MEMOPS %d",
               (int)cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address));
        printf(", GetDevicePointer flags=1 %d", (int)cuMemHostGetDevicePointer(&got, at, 1));
        printf(", MemsetD8 %d, sync %d\n", (int)cuMemsetD8(address, 7, MB),
               (int)cuCtxSynchronize());
    }
    printf("sync %d\n", (int)cuCtxSynchronize());
}

/* The line of /proc/self/maps that holds an address; `flags` also gets a few lines of smaps. */
static void show_mapping(const char *title, const void *address)
{
    char line[512];
    bool inside = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    printf("%s %p:", title, address);
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && strchr(line, '-') < line + 20) {
            if (inside)
                break;
            inside = (uintptr_t)address >= from && (uintptr_t)address < to;
            if (inside)
                printf(" [+%ld, %lu KB] %s", (long)(from - (uintptr_t)address), (to - from) / 1024,
                       strchr(line, ' ') + 1);
        } else if (inside && (!strncmp(line, "VmFlags", 7) || !strncmp(line, "AnonHuge", 8) ||
                              !strncmp(line, "ShmemPmd", 8) || !strncmp(line, "Rss", 3) ||
                              !strncmp(line, "Locked", 6) || !strncmp(line, "Private_Dirty", 13) ||
                              !strncmp(line, "THPeli", 6))) {
            line[strcspn(line, "\n")] = 0;
            printf("    %s\n", line);
        }
    }
    if (!inside)
        printf(" not mapped\n");
    if (file)
        fclose(file);
}

static void show_status(const char *title)
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    printf("%s:", title);
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "VmLck", 5) || !strncmp(line, "VmPin", 5) ||
            !strncmp(line, "RssAn", 5) || !strncmp(line, "VmSize", 6) ||
            !strncmp(line, "RssSh", 5) || !strncmp(line, "RssFi", 5)) {
            char name[32];
            long kb = 0;
            sscanf(line, "%31s %ld", name, &kb);
            printf(" %s %ld", name, kb);
        }
    printf("\n");
    if (file)
        fclose(file);
}

static void section_layout(void)
{
    static void *small[300];
    const size_t each[] = {8, 100, 512, 4096, 5000, 65536, 300 * KB, MB, 3 * MB, 64 * MB};
    for (unsigned s = 0; s < COUNT(each); s++) {
        unsigned count = each[s] > MB ? 3 : 24;
        size_t least_align = 1UL << 30;
        for (unsigned i = 0; i < count; i++) {
            cuMemHostAlloc(&small[i], each[s], 0);
            size_t align = (uintptr_t)small[i] & -(uintptr_t)small[i];
            least_align = align < least_align ? align : least_align;
        }
        printf("%u of %s: least alignment %s, distances", count, size_text(each[s]),
               size_text(least_align));
        for (unsigned i = 1; i < count && i < 10; i++)
            printf(" %ld", (long)((char *)small[i] - (char *)small[i - 1]));
        printf("\n");
        if (s == 0 || s == 3 || each[s] == MB || each[s] == 64 * MB)
            show_mapping("  maps", small[0]);
        for (unsigned i = 0; i < count; i++)
            cuMemFreeHost(small[i]);
    }
    for (unsigned s = 0; s < COUNT(each); s++) {
        unsigned char *first = NULL, *second = NULL;
        unsigned zero = 1, old = 0;
        cuMemHostAlloc((void **)&first, each[s], 0);
        for (size_t i = 0; i < each[s]; i++)
            zero &= first[i] == 0;
        memset(first, 0x5A, each[s]);
        cuMemFreeHost(first);
        cuMemHostAlloc((void **)&second, each[s], 0);
        for (size_t i = 0; i < each[s]; i++)
            old |= second[i] == 0x5A;
        printf("%s: fresh memory zero %u; allocated again: %s address, old bytes %u\n",
               size_text(each[s]), zero, first == second ? "same" : "other", old);
        cuMemFreeHost(second);
    }
    for (unsigned flags = 0; flags < 8; flags++) {
        void *at = NULL;
        cuMemHostAlloc(&at, 4 * MB, flags);
        char title[40];
        snprintf(title, sizeof title, "4 MB flags=%u", flags);
        show_mapping(title, at);
        cuMemFreeHost(at);
    }
    show_status("status before");
    void *big = NULL;
    cuMemHostAlloc(&big, 256 * MB, 0);
    show_status("with 256 MB allocated");
    cuMemFreeHost(big);
    char *huge = map_huge(256 * MB);
    memset(huge, 1, 256 * MB);
    show_mapping("huge, touched", huge);
    show_status("with 256 MB mapped and touched");
    cuMemHostRegister(huge, 256 * MB, 3);
    show_mapping("huge, registered", huge);
    show_status("registered too");
    mprotect(huge + 64 * KB, 4096, PROT_READ);
    mprotect(huge + 64 * KB, 4096, PROT_READ | PROT_WRITE);
    show_mapping("after a 4 KB mprotect pair in the first 2 MB", huge);
    cuMemHostUnregister(huge);
    show_mapping("unregistered", huge);
    munmap(huge, 256 * MB);
    huge = map_huge(64 * MB);
    cuMemHostRegister(huge, 64 * MB, 3);
    show_mapping("registered without being touched", huge);
    cuMemHostUnregister(huge);
    munmap(huge, 64 * MB);
    const size_t odd = 3 * MB + 5000;
    huge = map_huge(4 * MB);
    madvise(huge, 4 * MB, MADV_POPULATE_WRITE);
    cuMemHostRegister(huge, odd, 3);
    show_mapping("3 MB + 5000 of 4 MB registered", huge);
    cuMemHostUnregister(huge);
}

static bool is_mapped(void *at)
{
    unsigned char residence;
    return mincore((void *)((uintptr_t)at & ~4095UL), 4096, &residence) == 0;
}

static void try_in(const char *title, CUcontext context, void *at)
{
    if (!is_mapped(at)) {
        cuCtxSetCurrent(context);
        printf("%s: answers %c, not mapped", title, letter_of((uintptr_t)at, (uintptr_t)at, MB));
        return;
    }
    CUdeviceptr dev = 0;
    CUstream stream = NULL;
    cuCtxSetCurrent(context);
    CUresult allocated = cuMemAlloc(&dev, MB);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUresult copied = cuMemcpyHtoDAsync(dev, at, MB, stream);
    CUresult synced = cuStreamSynchronize(stream);
    printf("%s: answers %c, alloc %d, copy %d, sync %d", title,
           letter_of((uintptr_t)at, (uintptr_t)at, MB), (int)allocated, (int)copied, (int)synced);
    cuMemFree(dev);
    cuStreamDestroy(stream);
}

static void contexts_of(const char *title, bool registered, unsigned flags)
{
    void *at = NULL;
    CUcontext owner = make_context();
    CUcontext kept_a = context_a;
    context_a = owner;
    cuCtxSetCurrent(owner);
    if (registered) {
        at = map_huge(2 * MB);
        memset(at, 1, 2 * MB);
        cuMemHostRegister(at, MB, flags);
    } else {
        cuMemHostAlloc(&at, MB, flags);
    }
    printf("%s flags=%u: ", title, flags);
    try_in("in its own context", owner, at);
    try_in("; in another one", context_b, at);
    cuCtxSetCurrent(context_b);
    CUresult rc = registered ? cuMemHostRegister(at, MB, flags) : cuMemHostUnregister(at);
    printf("; there %s %d\n    ", registered ? "Register again" : "Unregister", (int)rc);
    cuCtxDestroy(owner);
    cuCtxSetCurrent(context_b);
    try_in("owner destroyed", context_b, at);
    rc = registered ? cuMemHostUnregister(at) : cuMemFreeHost(at);
    printf("; given back %d", (int)rc);
    if (registered)
        printf("; registered anew %d", (int)cuMemHostRegister(at, MB, flags));
    printf("\n");
    context_a = kept_a;
}

static void section_contexts(void)
{
    context_b = make_context();
    for (unsigned flags = 0; flags < 8; flags++)
        if (flags != 5 && flags != 6)
            contexts_of("allocated", false, flags);
    for (unsigned flags = 0; flags < 4; flags++)
        contexts_of("registered", true, flags);
    void *at = NULL;
    cuCtxSetCurrent(context_a);
    cuMemHostAlloc(&at, MB, 0);
    cuCtxSetCurrent(context_b);
    printf("allocated in A, B current: FreeHost %d", (int)cuMemFreeHost(at));
    char *mine = map_shared_huge(2 * MB);
    cuCtxSetCurrent(context_a);
    cuMemHostRegister(mine, 2 * MB, 0);
    cuCtxSetCurrent(context_b);
    printf("; registered in A, B current: Unregister %d", (int)cuMemHostUnregister(mine));
    cuCtxSetCurrent(context_a);
    cuMemHostRegister(mine, 2 * MB, 0);
    cuCtxSetCurrent(NULL);
    printf("; none current: Unregister %d\n", (int)cuMemHostUnregister(mine));
    cuCtxSetCurrent(context_a);
    cuMemHostAlloc(&at, MB, 0);
    cuCtxSetCurrent(NULL);
    printf("none current: FreeHost %d", (int)cuMemFreeHost(at));
    printf(", Alloc %d, Register %d", (int)cuMemHostAlloc(&at, MB, 0),
           (int)cuMemHostRegister(map_pages(MB, 0), MB, 0));
    unsigned flags = 0;
    CUdeviceptr pointer = 0;
    CUcontext owner = NULL;
    cuCtxSetCurrent(context_a);
    cuMemHostAlloc(&at, MB, 0);
    cuCtxSetCurrent(NULL);
    printf("; GetFlags %d, GetDevicePointer %d, attribute %d\n", (int)cuMemHostGetFlags(&flags, at),
           (int)cuMemHostGetDevicePointer(&pointer, at, 0),
           (int)cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)at));
    show_known();
}

static void check_in_child(const char *title, char *at)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int pipes[2];
        char seen = 0;
        bool mapped = pipe(pipes) == 0 && write(pipes[1], at, 1) == 1 && read(pipes[0], &seen, 1);
        printf("%s: in the child %s", title, mapped ? "mapped" : "not mapped");
        if (mapped) {
            printf(", holds %d", seen);
            at[0] = 77;
        }
        printf("\n");
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("    the parent then reads %d\n", at[0]);
}

static void section_fork(void)
{
    void *at = NULL;
    for (unsigned flags = 0; flags < 8; flags += 4) {
        for (size_t bytes = 4096; bytes <= 16 * MB; bytes *= 64) {
            char title[64];
            cuMemHostAlloc(&at, bytes, flags);
            *(char *)at = 42;
            snprintf(title, sizeof title, "allocated %s flags=%u", size_text(bytes), flags);
            check_in_child(title, at);
        }
    }
    char *shared = map_shared_huge(4 * MB);
    shared[0] = 42;
    cuMemHostRegister(shared, 4 * MB, 3);
    check_in_child("registered, shared", shared);
    show_mapping("shared, after fork", shared);
    char *huge = map_huge(4 * MB);
    huge[0] = 42;
    cuMemHostRegister(huge, 4 * MB, 3);
    check_in_child("registered", huge);
    show_mapping("registered, after fork", huge);
    CUdeviceptr dev = 0;
    char back[8] = {0};
    cuMemAlloc(&dev, MB);
    memset(huge, 9, MB);
    cuMemcpyHtoD(dev, huge, MB);
    cuMemcpyDtoH(back, dev, 8);
    printf("registered memory written by the parent after fork: the device sees %d of 9\n",
           back[0]);
}

static void section_memlock(void)
{
    struct rlimit none = {0, 0}, now;
    void *at = NULL;
    char *huge = map_huge(64 * MB);
    getrlimit(RLIMIT_MEMLOCK, &now);
    printf("RLIMIT_MEMLOCK %llu\n", (unsigned long long)now.rlim_cur);
    setrlimit(RLIMIT_MEMLOCK, &none);
    if (getuid() == 0 && setuid(65534) != 0)
        printf("setuid: %s\n", strerror(errno));
    printf("as uid %d with 0: HostAlloc 64 MB %d, Register 64 MB %d\n", (int)getuid(),
           (int)cuMemHostAlloc(&at, 64 * MB, 0), (int)cuMemHostRegister(huge, 64 * MB, 0));
    struct rlimit space = {1UL << 36, 1UL << 36};
    printf("RLIMIT_AS 64 GB: %d\n", setrlimit(RLIMIT_AS, &space));
    at = NULL;
    printf("    HostAlloc 64 MB %d", (int)cuMemHostAlloc(&at, 64 * MB, 0));
    printf(", %p\n", at);
}

/* ---- times ---- */

enum { ROUNDS = 25 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *samples, unsigned count)
{
    qsort(samples, count, sizeof *samples, compare);
    return samples[count / 2];
}

enum way { DRIVER, SHARED, TOUCH, UNTOUCHED_PAGES, POPULATE, POPULATE_SMALL, KEPT, WAYS };
static const char *const way_names[] = {"driver",        "shared huge", "huge+touch",  "huge",
                                        "huge+populate", "4K populate", "kept, zeroed"};

static void one_round(enum way way, size_t bytes, char *kept, double took[2])
{
    size_t mapped = whole_pages(bytes);
    char *at = NULL;
    double t0 = now_us();
    if (way == DRIVER) {
        cuMemAllocHost((void **)&at, bytes);
    } else if (way == KEPT) {
        memset(kept, 0, bytes);
    } else {
        if (way == SHARED)
            at = mapped <= 256 * KB ? map_pages(mapped, MAP_SHARED) : map_shared_huge(mapped);
        else
            at = way == POPULATE_SMALL ? map_pages(mapped, MAP_POPULATE) : map_huge(mapped);
        if (way == POPULATE)
            madvise(at, mapped, MADV_POPULATE_WRITE);
        for (size_t i = 0; way == TOUCH && i < mapped; i += 4096)
            at[i] = 0;
        CUresult rc = cuMemHostRegister(at, mapped, 3);
        if (rc)
            printf("register: %d\n", (int)rc);
    }
    double t1 = now_us();
    if (way == DRIVER) {
        cuMemFreeHost(at);
    } else if (way != KEPT) {
        bool padded = way == SHARED && mapped > 256 * KB;
        cuMemHostUnregister(at);
        munmap(at, padded ? (mapped + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1) : mapped);
    }
    took[0] = t1 - t0;
    took[1] = now_us() - t1;
}

static void section_times(void)
{
    const size_t all[] = {8,      4 * KB, 64 * KB, 256 * KB, 512 * KB, MB,
                          2 * MB, 4 * MB, 16 * MB, 64 * MB,  256 * MB};
    char *kept = map_huge(256 * MB);
    memset(kept, 1, 256 * MB);
    cuMemHostRegister(kept, 256 * MB, 3);
    printf("median us of allocation + release\n%8s", "");
    for (unsigned way = 0; way < WAYS; way++)
        printf(" %22s", way_names[way]);
    printf("\n");
    for (unsigned s = 0; s < COUNT(all); s++) {
        printf("%8s", size_text(all[s]));
        for (unsigned way = 0; way < WAYS; way++) {
            double makes[ROUNDS], frees[ROUNDS];
            unsigned rounds = all[s] > 16 * MB ? 7 : ROUNDS;
            for (unsigned i = 0; i < rounds; i++) {
                double took[2];
                one_round((enum way)way, all[s], kept, took);
                makes[i] = took[0];
                frees[i] = took[1];
            }
            printf(" %11.1f + %8.1f", median(makes, rounds), median(frees, rounds));
        }
        printf("\n");
    }
    void *live[1000];
    double begin = now_us();
    for (unsigned i = 0; i < COUNT(live); i++)
        cuMemAllocHost(&live[i], 8);
    double mid = now_us();
    for (unsigned i = 0; i < COUNT(live); i++)
        cuMemFreeHost(live[i]);
    printf("1000 of 8 bytes alive at once: %.1f us each, freed %.1f us each\n",
           (mid - begin) / 1000, (now_us() - mid) / 1000);
    CUdeviceptr dev;
    CUcontext owner;
    int value;
    (void)dev;
    begin = now_us();
    for (unsigned i = 0; i < 100000; i++)
        cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)kept);
    mid = now_us();
    for (unsigned i = 0; i < 100000; i++)
        cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_IS_MANAGED, (uintptr_t)kept);
    printf("cuPointerGetAttribute CONTEXT %.0f ns, IS_MANAGED %.0f ns\n", (mid - begin) / 100,
           (now_us() - mid) / 100);
}

static double pair_us(char *at, size_t bytes, int protection)
{
    double samples[ROUNDS];
    for (unsigned i = 0; i < ROUNDS; i++) {
        double begin = now_us();
        mprotect(at, bytes, protection);
        mprotect(at, bytes, PROT_READ | PROT_WRITE);
        samples[i] = now_us() - begin;
    }
    return median(samples, ROUNDS);
}

static void section_mprotect(void)
{
    const size_t all[] = {4 * KB, 64 * KB, MB, 2 * MB, 16 * MB, 64 * MB};
    void *driver = NULL;
    cuMemAllocHost(&driver, 64 * MB);
    memset(driver, 1, 64 * MB);
    char *huge = map_huge(64 * MB), *small = map_pages(64 * MB, 0), *split = map_huge(64 * MB);
    char *shared = map_shared_huge(64 * MB);
    memset(shared, 1, 64 * MB);
    cuMemHostRegister(shared, 64 * MB, 3);
    madvise(small, 64 * MB, MADV_NOHUGEPAGE);
    memset(huge, 1, 64 * MB);
    memset(small, 1, 64 * MB);
    memset(split, 1, 64 * MB);
    cuMemHostRegister(huge, 64 * MB, 3);
    cuMemHostRegister(small, 64 * MB, 3);
    cuMemHostRegister(split, 64 * MB, 3);
    for (size_t at = 64 * KB; at < 64 * MB; at += 2 * MB)
        pair_us(split + at, 4096, PROT_READ);
    printf("median us of an mprotect pair, PROT_READ (PROT_NONE)\n%8s %18s %18s %18s %18s %18s\n",
           "", "driver", "shared huge", "huge", "huge, split", "4K pages");
    for (int i = (int)COUNT(all) - 1; i >= 0; i--) {
        printf("%8s", size_text(all[i]));
        char *each[] = {driver, shared, huge, split, small};
        for (unsigned k = 0; k < COUNT(each); k++)
            printf(" %8.1f (%7.1f)", pair_us(each[k], all[i], PROT_READ),
                   pair_us(each[k], all[i], PROT_NONE));
        printf("\n");
    }
    show_mapping("huge, afterwards", huge);
    printf("64 MB of huge, in which 4 KB to 1 MB had been protected: %.1f\n",
           pair_us(huge, 64 * MB, PROT_READ));
    show_mapping("shared huge, afterwards", shared);
    memset(shared, 2, 64 * MB);
    show_mapping("shared huge, touched again", shared);
    printf("64 MB of it: %.1f\n", pair_us(shared, 64 * MB, PROT_READ));
}

static void section_bandwidth(void)
{
    CUdeviceptr dev = 0;
    CUstream stream;
    void *driver = NULL;
    char *huge = map_huge(64 * MB), *small = map_pages(64 * MB, MAP_POPULATE);
    char *shared = map_shared_huge(64 * MB);
    cuMemAlloc(&dev, 64 * MB);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuMemAllocHost(&driver, 64 * MB);
    memset(driver, 1, 64 * MB);
    memset(huge, 1, 64 * MB);
    cuMemHostRegister(huge, 64 * MB, 3);
    cuMemHostRegister(small, 64 * MB, 3);
    cuMemHostRegister(shared, 64 * MB, 3);
    struct {
        const char *name;
        char *at;
    } all[] = {{"driver", driver},
               {"huge registered", huge},
               {"4K registered", small},
               {"shared huge registered", shared}};
    for (unsigned k = 0; k < COUNT(all); k++) {
        double up[ROUNDS], down[ROUNDS], tiny[ROUNDS];
        for (unsigned i = 0; i < ROUNDS; i++) {
            double t0 = now_us();
            cuMemcpyHtoDAsync(dev, all[k].at, 64 * MB, stream);
            cuStreamSynchronize(stream);
            double t1 = now_us();
            cuMemcpyDtoHAsync(all[k].at, dev, 64 * MB, stream);
            cuStreamSynchronize(stream);
            double t2 = now_us();
            for (int n = 0; n < 100; n++)
                cuMemcpyHtoDAsync(dev, all[k].at, 4096, stream);
            double t3 = now_us();
            cuStreamSynchronize(stream);
            up[i] = t1 - t0;
            down[i] = t2 - t1;
            tiny[i] = (t3 - t2) * 10;
        }
        printf("%s: 64 MB to the device %.0f us, back %.0f us; issue of 4 KB %.0f ns\n",
               all[k].name, median(up, ROUNDS), median(down, ROUNDS), median(tiny, ROUNDS));
    }
}

/* ---- waits and captures ---- */

static void sleep_100_ms(void *unused)
{
    (void)unused;
    usleep(100000);
}

static void section_waits(void)
{
    CUstream busy;
    cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING);
    char *at = map_huge(16 * MB);
    void *driver = NULL;
    memset(at, 1, 16 * MB);
#define BEHIND_WORK(call)                                                                          \
    do {                                                                                           \
        cuCtxSynchronize();                                                                        \
        cuLaunchHostFunc(busy, sleep_100_ms, NULL);                                                \
        double begin = now_us();                                                                   \
        CUresult rc = call;                                                                        \
        printf("%s behind 100 ms of work: %d, %.1f ms\n", #call, (int)rc,                          \
               (now_us() - begin) / 1e3);                                                          \
    } while (0)
    BEHIND_WORK(cuMemHostRegister(at, 16 * MB, 3));
    BEHIND_WORK(cuMemHostUnregister(at));
    BEHIND_WORK(cuMemAllocHost(&driver, 16 * MB));
    BEHIND_WORK(cuMemFreeHost(driver));
    BEHIND_WORK(cuMemAllocHost(&driver, 8));
    BEHIND_WORK(cuMemFreeHost(driver));
    BEHIND_WORK(cuMemFreeHost(NULL));
    BEHIND_WORK(cuMemFreeHost(at));
    BEHIND_WORK(cuMemHostUnregister(at));
    cuCtxSynchronize();
    CUstream captured;
    CUgraph graph = NULL;
    cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING);
    for (CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
         mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        for (int call = 0; call < 4; call++) {
            void *made = (void *)0x11;
            CUresult rc = CUDA_SUCCESS, end;
            if (call == 1 && !driver)
                cuMemAllocHost(&driver, MB);
            cuStreamBeginCapture(captured, mode);
            if (call == 0)
                rc = cuMemAllocHost(&made, MB);
            else if (call == 1)
                rc = cuMemFreeHost(driver);
            else if (call == 2)
                rc = cuMemHostRegister(at, MB, 0);
            else
                rc = cuMemHostUnregister(at);
            end = cuStreamEndCapture(captured, &graph);
            printf("capture mode %d, call %d (alloc, free, register, unregister): %d/%d", (int)mode,
                   call, (int)rc, (int)end);
            if (call == 0)
                printf(" pointer %s", made == (void *)0x11 ? "untouched" : made ? "set" : "NULL");
            printf("\n");
            if (call == 1 && rc == CUDA_SUCCESS)
                driver = NULL;
        }
    }
}

static void show_file(const char *path)
{
    char text[256] = "";
    int fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        snprintf(text, sizeof text, "(%s)\n", strerror(errno));
    printf("%s: %s", path, text);
    if (fd >= 0)
        close(fd);
}

static void section_machine(void)
{
    struct utsname name;
    int version = 0, value = 0;
    char model[64] = "";
    uname(&name);
    cuDriverGetVersion(&version);
    cuDeviceGetName(model, sizeof model, device);
    printf("%s, driver %d, Linux %s, page %ld\n", model, version, name.release,
           sysconf(_SC_PAGESIZE));
    const struct {
        CUdevice_attribute which;
        const char *name;
    } asked[] = {
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, "unified addressing"},
        {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
         "host pointer for registered"},
        {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, "pageable access"},
        {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, "register supported"},
        {CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, "read-only register"},
        {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, "host numa id"},
        {CU_DEVICE_ATTRIBUTE_INTEGRATED, "integrated"},
    };
    for (unsigned i = 0; i < COUNT(asked); i++) {
        cuDeviceGetAttribute(&value, asked[i].which, device);
        printf("%s %d, ", asked[i].name, value);
    }
    printf("\n");
    show_file("/sys/kernel/mm/transparent_hugepage/enabled");
    show_file("/sys/kernel/mm/transparent_hugepage/defrag");
    show_file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    show_file("/proc/sys/vm/overcommit_memory");
    show_file("/proc/sys/vm/max_map_count");
    show_file("/sys/devices/system/node/online");
}

static const struct {
    const char *name;
    void (*run)(void);
} sections[] = {
    {"machine", section_machine},   {"attributes", section_attributes},
    {"contexts", section_contexts}, {"fork", section_fork},
    {"layout", section_layout},     {"times", section_times},
    {"mprotect", section_mprotect}, {"bandwidth", section_bandwidth},
    {"waits", section_waits},       {"memlock", section_memlock},
    {"errors", section_errors},
};

static bool is_wanted(const char *name, int count, char **names)
{
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return count < 2;
}

int main(int argc, char **argv)
{
    for (unsigned i = 0; i < COUNT(sections); i++) {
        int status = 0;
        if (!is_wanted(sections[i].name, argc, argv))
            continue;
        double begin = now_us();
        printf("\n==== %s\n", sections[i].name);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(SECTION_LIMIT_S);
            setvbuf(stdout, NULL, _IONBF, 0);
            if (start())
                sections[i].run();
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status)
            printf("(ended with status %#x)\n", (unsigned)status);
        printf("(%.1f s)\n", (now_us() - begin) / 1e6);
    }
    return 0;
}
