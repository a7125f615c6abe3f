/* probe_stacks: what the driver takes of its caller's stack, and which signals its threads block.
 *
 *     make out/probes/probe_stacks && out/probes/probe_stacks
 *
 * Each call is made in a coroutine whose stack is filled with a pattern before: what is overwritten
 * was used. Where a call takes more now and then, as it does when the driver makes room for more of
 * a kind, the least and the most of many calls are told.
 */
#include "../asking.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 1 << 20, PATTERN = 0xa5, MANY = 1000, PINNED = 4 << 20 };

static ucontext_t caller, coroutine;
static unsigned char *stack;
static CUresult (*made)(int turn);
static int turn_now;
static CUresult result;

static CUdevice gpu;
static CUcontext context;
static CUstream stream, streams[MANY];
static CUevent events[MANY];
static CUdeviceptr on_device, device_memories[MANY];
static void *pinned, *blocks[MANY], *to_register;

static void make(void)
{
    result = made(turn_now);
}

static size_t bytes_used(void)
{
    size_t untouched = 0;
    memset(stack, PATTERN, STACK);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = STACK;
    coroutine.uc_link = &caller;
    makecontext(&coroutine, make, 0);
    swapcontext(&caller, &coroutine);
    while (untouched < STACK && stack[untouched] == PATTERN)
        untouched++;
    return STACK - untouched;
}

static void tell(const char *name, CUresult (*call)(int turn), int turns)
{
    size_t least = STACK, most = 0;
    made = call;
    for (turn_now = 0; turn_now < turns; turn_now++) {
        size_t used = bytes_used();
        least = used < least ? used : least;
        most = used > most ? used : most;
    }
    say("%s: %zu to %zu bytes in %d calls, result %d", name, least, most, turns, (int)result);
    end_line();
}

#define CALL(name, expression)                                                                     \
    static CUresult name(int turn)                                                                 \
    {                                                                                              \
        (void)turn;                                                                                \
        return expression;                                                                         \
    }

CALL(init, cuInit(0))
CALL(retain, cuDevicePrimaryCtxRetain(&context, gpu))
CALL(stream_create, cuStreamCreate(&streams[turn], CU_STREAM_NON_BLOCKING))
CALL(event_create, cuEventCreate(&events[turn], CU_EVENT_DISABLE_TIMING))
CALL(event_record, cuEventRecord(events[turn], stream))
CALL(event_query, cuEventQuery(events[turn]))
CALL(stream_wait, cuStreamWaitEvent(stream, events[turn], 0))
CALL(host_alloc, cuMemHostAlloc(&blocks[turn], 4096UL << (turn % 10), 0))
CALL(host_free, cuMemFreeHost(blocks[turn]))
CALL(host_register, cuMemHostRegister(to_register, PINNED, 0))
CALL(host_unregister, cuMemHostUnregister(to_register))
CALL(device_alloc, cuMemAlloc(&device_memories[turn], MB))
CALL(upload, cuMemcpyHtoDAsync(on_device, pinned, 4096, stream))
CALL(download, cuMemcpyDtoHAsync(pinned, on_device, 65536, stream))
CALL(wait_for_stream, cuStreamSynchronize(stream))
CALL(wait_for_context, cuCtxSynchronize())

static CUresult kind_of(CUdeviceptr address)
{
    unsigned kind;
    return cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
}

CALL(look_at_known, kind_of(turn % 2 ? on_device : (CUdeviceptr)pinned))
CALL(look_at_unknown, kind_of((CUdeviceptr)stack))

static void ask_room(void)
{
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tell("cuInit", init, 1);
    TRY(cuDeviceGet(&gpu, 0));
    tell("cuDevicePrimaryCtxRetain", retain, 1);
    TRY(cuCtxSetCurrent(context));
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRY(cuMemAlloc(&on_device, MB));
    TRY(cuMemHostAlloc(&pinned, MB, 0));
    to_register = aligned_alloc(2 * MB, PINNED);
    tell("cuPointerGetAttribute", look_at_known, 100);
    tell("cuPointerGetAttribute of pageable memory", look_at_unknown, 10);
    tell("cuEventCreate", event_create, MANY);
    tell("cuEventRecord", event_record, MANY);
    tell("cuEventQuery", event_query, MANY);
    tell("cuStreamWaitEvent", stream_wait, MANY);
    tell("cuStreamCreate", stream_create, 300);
    tell("cuMemcpyHtoDAsync", upload, MANY);
    tell("cuMemcpyDtoHAsync", download, MANY);
    tell("cuStreamSynchronize", wait_for_stream, 20);
    tell("cuCtxSynchronize", wait_for_context, 20);
    tell("cuMemHostAlloc", host_alloc, 200);
    tell("cuMemFreeHost", host_free, 200);
    tell("cuMemHostRegister", host_register, 1);
    tell("cuMemHostUnregister", host_unregister, 1);
    tell("cuMemAlloc", device_alloc, 100);
}

static void tell_mask(const char *thread)
{
    char path[300], line[300], name[64] = "?", mask[64] = "?";
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Name: %63s", name);
        sscanf(line, "SigBlk: %63s", mask);
    }
    if (file)
        fclose(file);
    say("%s %s, ", name, mask);
}

static void ask_masks(void)
{
    TRY(cuInit(0));
    TRY(cuDeviceGet(&gpu, 0));
    TRY(cuDevicePrimaryCtxRetain(&context, gpu));
    say("threads and their masks: ");
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads && (entry = readdir(threads)) != NULL;)
        if (entry->d_name[0] != '.')
            tell_mask(entry->d_name);
    if (threads)
        closedir(threads);
    end_line();
}

int main(int argc, char **argv)
{
    static const struct question questions[] = {
        {.name = "room", .ask = ask_room},
        {.name = "masks", .ask = ask_masks},
    };
    static const struct inquiry inquiry = {
        .program = "probe_stacks",
        .questions = questions,
        .count = COUNT(questions),
        .question_s = 60,
    };

    return ask_all(&inquiry, argc, argv);
}
