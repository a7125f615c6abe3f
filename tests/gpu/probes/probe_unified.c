/* probe_unified: asks libcupti what it tells of managed memory (unified-memory counters) and of
 * modules that are loaded.
 *
 *     make out/probes/probe_unified && out/probes/probe_unified
 *
 * PROBE_CUPTI names the libcupti to ask. Each question is answered in a child process that does its
 * own cuInit (asking.h). No question has more than 64 MB of managed memory, but "first" 256 MB:
 * more of it than a device has can hang the device. "devices" goes without an answer where there is
 * one.
 */
#include "../asking_cupti.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16384, THREADS = 256, NOBODY = 65534, FAULTS_MAX = 1 << 16 };

static const char touch_ptx[] = ".version 7.0\n"
                                ".target sm_52\n"
                                ".address_size 64\n"
                                ".visible .entry touch(.param .u64 base, .param .u64 step)\n"
                                "{\n"
                                "    .reg .u32 %a, %b, %c;\n"
                                "    .reg .u64 %p, %q, %s;\n"
                                "    mov.u32 %a, %ctaid.x;\n"
                                "    mov.u32 %b, %ntid.x;\n"
                                "    mov.u32 %c, %tid.x;\n"
                                "    mad.lo.u32 %a, %a, %b, %c;\n"
                                "    ld.param.u64 %s, [step];\n"
                                "    cvt.u64.u32 %p, %a;\n"
                                "    mul.lo.u64 %p, %p, %s;\n"
                                "    ld.param.u64 %q, [base];\n"
                                "    add.u64 %p, %p, %q;\n"
                                "    st.volatile.u32 [%p], %a;\n"
                                "    ret;\n"
                                "}\n";

static const char heap_ptx[] = ".version 7.0\n"
                               ".target sm_52\n"
                               ".address_size 64\n"
                               ".extern .func (.param .b64 result) malloc (.param .b64 bytes);\n"
                               ".visible .entry take(.param .u64 answer)\n"
                               "{\n"
                               "    .reg .b64 %n, %p, %a;\n"
                               "    mov.u64 %n, 64;\n"
                               "    ld.param.u64 %a, [answer];\n"
                               "    {\n"
                               "    .param .b64 bytes;\n"
                               "    .param .b64 result;\n"
                               "    st.param.b64 [bytes], %n;\n"
                               "    call.uni (result), malloc, (bytes);\n"
                               "    ld.param.b64 %p, [result];\n"
                               "    }\n"
                               "    st.global.u64 [%a], %p;\n"
                               "    ret;\n"
                               "}\n";

/* ---- modules ---- */

static long own_thread;

static bool imports_malloc(const char *image, size_t size)
{
    const Elf64_Ehdr *header = (const void *)image;
    if (size < sizeof *header || memcmp(image, ELFMAG, SELFMAG) != 0)
        return false;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbols = (const void *)(image + sections[i].sh_offset);
        const char *names = image + sections[sections[i].sh_link].sh_offset;
        for (size_t n = 0; n < sections[i].sh_size / sizeof *symbols; n++)
            if (symbols[n].st_shndx == SHN_UNDEF &&
                strcmp(names + symbols[n].st_name, "malloc") == 0)
                return true;
    }
    return false;
}

static void CUPTIAPI hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *about)
{
    const CUpti_ResourceData *data = about;
    const CUpti_ModuleResourceData *loaded = data ? data->resourceDescriptor : NULL;
    (void)user, (void)domain;
    if (!loaded)
        return;
    const char *image = loaded->pCubin;
    say(" r%u<module %u, %zu bytes%s%s, context %s%s>", id, loaded->moduleId, loaded->cubinSize,
        image && memcmp(image, ELFMAG, SELFMAG) == 0 ? ", ELF" : "",
        image && imports_malloc(image, loaded->cubinSize) ? ", imports malloc" : "",
        data->context ? "there" : "none", thread_id() == own_thread ? "" : " !T");
}

static void listen_to_modules(void)
{
    own_thread = thread_id();
    if (!load_cupti())
        return;
    TRY_CUPTI(cupti.subscribe(&subscriber, hear, NULL));
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
}

static void ask_modules(void)
{
    CUmodule first = NULL, second = NULL;
    CUfunction take = NULL;
    TRY(cuInit(0));
    listen_to_modules();
    TRY(enter_primary());
    say("load(");
    TRY(cuModuleLoadData(&first, touch_ptx));
    say(" )\nload with malloc(");
    TRY(cuModuleLoadData(&second, heap_ptx));
    say(" ) its function(");
    TRY(cuModuleGetFunction(&take, second, "take"));
    CUdeviceptr answer = device_block();
    void *params[] = {&answer};
    say(" ) launch(");
    TRY(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    settle();
    say(" )\nunload(");
    TRY(cuModuleUnload(second));
    say(" )\n");
}

/* A launch takes handles of either kind: which says the name of which? */
static void ask_names(CUkernel kernel)
{
    CUfunction function = NULL;
    const char *names[3] = {"-", "-", "-"};
    TRY(cuKernelGetFunction(&function, kernel));
    CUresult of_kernel = cuFuncGetName(&names[0], (CUfunction)kernel);
    CUresult of_function = cuKernelGetName(&names[1], (CUkernel)function);
    CUresult as_is = cuFuncGetName(&names[2], function);
    say(" names: of the kernel as a function %d %s, of the function as a kernel %d %s, of the "
        "function %d %s",
        (int)of_kernel, names[0], (int)of_function, names[1], (int)as_is, names[2]);
}

static void ask_libraries(void)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    TRY(cuInit(0));
    listen_to_modules();
    TRY(enter_primary());
    CUdeviceptr answer = device_block();
    void *params[] = {&answer};
    say("library with malloc(");
    TRY(cuLibraryLoadData(&library, heap_ptx, NULL, NULL, 0, NULL, NULL, 0));
    say(" ) its kernel(");
    TRY(cuLibraryGetKernel(&kernel, library, "take"));
    say(" ) launch(");
    TRY(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    settle();
    say(" )");
    ask_names(kernel);
    say("\nunload(");
    TRY(cuLibraryUnload(library));
    say(" )\n");
}

/* ---- unified-memory counters ---- */

static const struct {
    CUpti_ActivityUnifiedMemoryCounterKind kind;
    const char *name;
} counters[] = {
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, "to device"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, "to host"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, "host faults"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, "device faults"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, "thrashing"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING, "throttling"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, "remote map"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, "to another device"},
};

static struct {
    unsigned records, inside;
    uint64_t value, sources, targets, flags, incomplete;
} seen[COUNT(counters)];

static uint64_t faults[FAULTS_MAX]; /* where devices faulted */
static _Atomic unsigned fault_count;

static CUdeviceptr managed;
static size_t managed_bytes;
static _Atomic unsigned asked_for, asked_elsewhere, came_back, others;

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = MB;
    *buffer = malloc(*size);
    *most = 0;
    atomic_fetch_add(&asked_for, 1);
    if (thread_id() != own_thread)
        atomic_fetch_add(&asked_elsewhere, 1);
}

static void note(const CUpti_ActivityUnifiedMemoryCounter3 *record)
{
    for (size_t i = 0; i < COUNT(counters); i++) {
        if (counters[i].kind != record->counterKind)
            continue;
        seen[i].records++;
        seen[i].inside += record->address >= managed && record->address < managed + managed_bytes;
        seen[i].value += record->value;
        seen[i].sources |= UINT64_C(1) << (record->srcId & 63);
        seen[i].targets |= UINT64_C(1) << (record->dstId & 63);
        seen[i].flags |= record->flags;
        seen[i].incomplete += record->end == 0;
    }
    if (record->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT) {
        unsigned at = atomic_fetch_add(&fault_count, 1);
        faults[at < FAULTS_MAX ? at : FAULTS_MAX - 1] = record->address;
    }
}

static void CUPTIAPI take_back(CUcontext context, uint32_t id, uint8_t *buffer, size_t size,
                               size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)id, (void)size;
    atomic_fetch_add(&came_back, 1);
    while (cupti.next(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
            note((const void *)record);
        else
            atomic_fetch_add(&others, 1);
    }
    free(buffer);
}

static void tell_counters(void)
{
    say(" buffers %u (asked for by other threads %u), back %u;", asked_for, asked_elsewhere,
        came_back);
    for (size_t i = 0; i < COUNT(counters); i++)
        if (seen[i].records)
            say(" %s: %u records, %u inside, value %llu, from %llx to %llx, flags %llx, "
                "without end %llu;",
                counters[i].name, seen[i].records, seen[i].inside,
                (unsigned long long)seen[i].value, (unsigned long long)seen[i].sources,
                (unsigned long long)seen[i].targets, (unsigned long long)seen[i].flags,
                (unsigned long long)seen[i].incomplete);
    if (others)
        say(" others %u", others);
    end_line();
}

static void configure(unsigned devices)
{
    for (size_t i = 0; i < COUNT(counters); i++) {
        for (unsigned device_id = 0; device_id < devices; device_id++) {
            CUpti_ActivityUnifiedMemoryCounterConfig one = {
                .scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
                .kind = counters[i].kind,
                .deviceId = device_id,
                .enable = 1,
            };
            CUptiResult result = cupti.configure_managed(&one, 1);
            if (result != CUPTI_SUCCESS)
                say(" {%s=CUPTI %d}", counters[i].name, (int)result);
        }
    }
}

static bool begin_counting(void)
{
    own_thread = thread_id();
    if (!load_cupti() || !cupti.configure_managed)
        return false;
    TRY_CUPTI(cupti.reg(give, take_back));
    uint64_t begin_ns = now_ns();
    configure(1);
    double configured_ms = ms_since(begin_ns);
    begin_ns = now_ns();
    bool is_on =
        TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)) == CUPTI_SUCCESS;
    say(" configured in %.3f ms, enabled in %.3f ms;", configured_ms, ms_since(begin_ns));
    return is_on;
}

static void touch_on_host(size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PAGE)
        ((volatile unsigned char *)managed)[at]++;
}

static void touch_by(CUfunction touch, unsigned pages, uint64_t step)
{
    void *params[] = {&managed, &step};
    TRY(cuLaunchKernel(touch, pages / THREADS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    settle();
}

static void touch_on_device(CUfunction touch, unsigned pages)
{
    touch_by(touch, pages, PAGE);
}

static CUfunction load_touch(void)
{
    CUfunction touch = NULL;
    TRY(cuModuleLoadData(&module, touch_ptx));
    TRY(cuModuleGetFunction(&touch, module, "touch"));
    return touch;
}

static void allocate(void)
{
    managed_bytes = (size_t)PAGES * PAGE;
    TRY(cuMemAllocManaged(&managed, managed_bytes, CU_MEM_ATTACH_GLOBAL));
}

static void flush_and_tell(const char *when, uint32_t flag)
{
    double took_ms = 0;
    uint64_t begin_ns = now_ns();
    TRY_CUPTI(cupti.flush(flag));
    took_ms = ms_since(begin_ns);
    say("%s, flush(%u) %.3f ms:", when, flag, took_ms);
    tell_counters();
}

static void work_and_tell(void)
{
    CUfunction touch = load_touch();
    allocate();
    touch_on_host(managed_bytes);
    uint64_t begin_ns = now_ns();
    touch_on_device(touch, PAGES);
    say("64 MB that the host has written, touched by the device: %.3f ms\n", ms_since(begin_ns));
    sleep_ms(300);
    say("300 ms later:");
    tell_counters();
    flush_and_tell("the device has touched it", 0);
    touch_on_host(managed_bytes);
    flush_and_tell("the host has", 0);
    flush_and_tell("once more", 1);
    TRY(cuMemFree(managed));
    flush_and_tell("freed", 1);
}

static void ask_early(void)
{
    TRY(cuInit(0));
    say("before a context:");
    begin_counting();
    end_line();
    TRY(enter_primary());
    work_and_tell();
}

static void ask_late(void)
{
    TRY(enter_primary());
    say("behind a context:");
    begin_counting();
    end_line();
    work_and_tell();
}

/* Without any of it. */
static void ask_cost(void)
{
    TRY(enter_primary());
    CUfunction touch = load_touch();
    allocate();
    for (int i = 0; i < 3; i++) {
        touch_on_host(managed_bytes);
        uint64_t begin_ns = now_ns();
        touch_on_device(touch, PAGES);
        say(" %.3f ms", ms_since(begin_ns));
    }
    say(" for 64 MB\n");
}

/* A few pages go to and fro. */
static void ask_thrashing(void)
{
    TRY(cuInit(0));
    begin_counting();
    end_line();
    TRY(enter_primary());
    CUfunction touch = load_touch();
    allocate();
    uint64_t step = PAGE;
    void *params[] = {&managed, &step};
    uint64_t until_ns = now_ns() + UINT64_C(500000000);
    unsigned rounds = 0;
    for (; now_ns() < until_ns; rounds++) {
        TRY(cuLaunchKernel(touch, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
        touch_on_host((size_t)THREADS * PAGE);
    }
    settle();
    say("%u rounds on 1 MB by both: ", rounds);
    flush_and_tell("", 1);
}

static void ask_devices(void)
{
    CUcontext second = NULL;
    CUdevice other = 0;
    TRY(cuInit(0));
    if (cuDeviceGet(&other, 1) != CUDA_SUCCESS) {
        say("there is one device\n");
        return;
    }
    begin_counting();
    end_line();
    TRY(enter_primary());
    allocate();
    touch_on_host(managed_bytes);
    TRY(cuDevicePrimaryCtxRetain(&second, other));
    TRY(cuCtxSetCurrent(second));
    CUfunction touch = load_touch();
    touch_on_device(touch, PAGES);
    flush_and_tell("device 1 has touched it", 0);
    TRY(cuCtxSetCurrent(primary));
    touch_on_device(load_touch(), PAGES);
    flush_and_tell("device 0 has", 0);
}

/* What is told to somebody who is not root. */
static void ask_nobody(void)
{
    if (setuid(NOBODY) != 0)
        say("setuid fails;");
    ask_early();
}

/* Disabled it says no more. */
static void ask_disabled(void)
{
    TRY(cuInit(0));
    begin_counting();
    end_line();
    TRY(enter_primary());
    CUfunction touch = load_touch();
    allocate();
    touch_on_host(managed_bytes);
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
    TRY_CUPTI(cupti.flush(1));
    memset(seen, 0, sizeof seen);
    touch_on_device(touch, PAGES);
    flush_and_tell("disabled before the device touched it", 1);
}

static int by_address(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* How far from each other devices faulted. */
static void tell_faults(const char *what)
{
    unsigned count = atomic_exchange(&fault_count, 0);
    uint64_t widest = 0, aligned = UINT64_MAX;
    count = count < FAULTS_MAX ? count : FAULTS_MAX;
    qsort(faults, count, sizeof *faults, by_address);
    for (unsigned i = 0; i < count; i++) {
        uint64_t gap = i > 0 ? faults[i] - faults[i - 1] : 0;
        uint64_t lowest_bit = faults[i] & -faults[i];
        widest = gap > widest ? gap : widest;
        aligned = lowest_bit < aligned ? lowest_bit : aligned;
    }
    say("%s: %u faults of devices", what, count);
    if (count > 0)
        say(", from %llu KB to %llu KB, %llu KB apart at most, at multiples of %llu;",
            (unsigned long long)(faults[0] - managed) >> 10,
            (unsigned long long)(faults[count - 1] - managed) >> 10,
            (unsigned long long)widest >> 10, (unsigned long long)aligned);
    tell_counters();
    memset(seen, 0, sizeof seen);
}

static void touch_first(CUfunction touch, const char *what, unsigned pages, uint64_t step)
{
    managed_bytes = 4 * (size_t)PAGES * PAGE;
    TRY(cuMemAllocManaged(&managed, managed_bytes, CU_MEM_ATTACH_GLOBAL));
    touch_by(touch, pages, step);
    TRY_CUPTI(cupti.flush(0));
    tell_faults(what);
    TRY(cuMemFree(managed));
    TRY_CUPTI(cupti.flush(1));
}

/* Memory that a device is the first to touch: no transfer tells of it. */
static void ask_first(void)
{
    TRY(cuInit(0));
    begin_counting();
    end_line();
    TRY(enter_primary());
    CUfunction touch = load_touch();
    touch_first(touch, "each page of 256 MB", 4 * PAGES, PAGE);
    touch_first(touch, "each 16th page of 256 MB", PAGES / 4, 16 * PAGE);
    touch_first(touch, "256 pages, 1 MB apart", THREADS, MB);
    touch_first(touch, "the first 1 MB of 256", THREADS, PAGE);
}

static const struct question questions[] = {
    {.name = "modules", .ask = ask_modules},   {.name = "libraries", .ask = ask_libraries},
    {.name = "early", .ask = ask_early},       {.name = "late", .ask = ask_late},
    {.name = "cost", .ask = ask_cost},         {.name = "thrashing", .ask = ask_thrashing},
    {.name = "devices", .ask = ask_devices},   {.name = "nobody", .ask = ask_nobody},
    {.name = "disabled", .ask = ask_disabled}, {.name = "first", .ask = ask_first},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_unified",
        .questions = questions,
        .count = COUNT(questions),
        .question_s = 15,
        .in_sections = true,
    };

    return ask_all(&inquiry, argc, argv);
}
