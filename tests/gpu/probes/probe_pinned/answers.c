/* What the query functions say of every kind of pinned memory. */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

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

char letter_of(uint64_t address, uint64_t base, size_t asked)
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
    say("%-26s %6s  page+%-4lu first %c  middle %c  last %c  behind %c  page's end %c\n", title,
        size_text(asked), (unsigned long)(base % 4096), letter_of(base, base, asked),
        letter_of(base + asked / 2, base, asked), letter_of(base + last, base, asked),
        letter_of(base + asked, base, asked),
        letter_of(base + (asked ? whole_pages(asked) : 4096) - 1, base, asked));
}

void show_known(void)
{
    for (unsigned i = 0; i < known_count; i++)
        say("%c: %s\n", i < 26 ? 'a' + i : 'A' + i - 26, known[i].bytes);
}

static const size_t sizes[] = {0, 1, 8, 4096, 5000, MB, 3 * MB, 64 * MB};

void section_attributes(void)
{
    char title[64];
    for (int flags = 0; flags <= 8; flags++)
        for (unsigned s = 0; s < COUNT(sizes); s++) {
            void *at = (void *)1;
            CUresult rc = flags == 8 ? cuMemAllocHost(&at, sizes[s])
                                     : cuMemHostAlloc(&at, sizes[s], (unsigned)flags);
            snprintf(title, sizeof title, flags == 8 ? "AllocHost" : "HostAlloc flags=%d", flags);
            if (rc != CUDA_SUCCESS) {
                say("%-26s %6s  error %d, pointer %p\n", title, size_text(sizes[s]), (int)rc, at);
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
                say("%s: %d\n", title, (int)rc);
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
        munmap(at, whole_huge(sizes[s]));
    }
    char *plain = map_as(MB, 0);
    show_letters("not registered", plain, MB);
    CUdeviceptr dev = 0;
    cuMemAlloc(&dev, MB);
    say("device memory: %c\n", letter_of(dev, dev, MB));
    show_known();
}
