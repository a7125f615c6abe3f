/* What a subscription takes, costs and permits. */
#include "ear.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Q1: loading and subscribing ---- */

static unsigned thread_count(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");

    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

static unsigned long resident_kb(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file) {
        if (fscanf(file, "%lu %lu", &total, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return resident * (unsigned long)sysconf(_SC_PAGESIZE) / KB;
}

void q1(void)
{
    uint32_t version = 0;

    say("Q1 ");
    if (set_up() != CUDA_SUCCESS)
        return;
    const char *path = cupti_path("PROBE_CUPTI");
    unsigned threads = thread_count();
    unsigned long kb = resident_kb();
    uint64_t start = now_ns();
    if (!load_cupti_from(&cupti, path))
        return;
    say("%s: dlopen %.1f ms", path, ms_since(start));
    cupti.version(&version);
    say(", version %u", version);
    start = now_ns();
    CUptiResult rc = subscribe();
    say(", subscribe CUPTI %d in %.1f ms", (int)rc, ms_since(start));
    say(", threads %u -> %u, resident +%lu KB", threads, thread_count(), resident_kb() - kb);
    start = now_ns();
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    say(", first enable %.0f us", 1e3 * ms_since(start));
    rc = cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, 100000);
    say(", enable of an unknown id CUPTI %d", (int)rc);
    start = now_ns();
    rc = cupti.unsubscribe(subscriber);
    say(", unsubscribe CUPTI %d in %.0f us", (int)rc, 1e3 * ms_since(start));
    say(", again CUPTI %d", (int)cupti.unsubscribe(subscriber));
    start = now_ns();
    rc = subscribe();
    say(", subscribe again CUPTI %d in %.0f us", (int)rc, 1e3 * ms_since(start));
    end_line();
}

/* Before cuInit, as a constructor would. */
void early(void)
{
    say("Q1 before cuInit:");
    if (!load_cupti())
        return;
    say(" subscribe CUPTI %d", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuInit));
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    ear.tell = true;
    if (set_up() != CUDA_SUCCESS)
        return;
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    TRY(cuStreamSynchronize(stream));
    end_line();
}

/* ---- Q2: what it costs ---- */

enum { ROUNDS = 60 };

static double record_ns(void)
{
    static CUevent event;

    if (!event)
        TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return NS_EACH(CALLS, cuEventRecord(event, stream));
}

static cudaError_t (*runtime_copy)(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);

static double runtime_copy_ns(void)
{
    if (!runtime_copy)
        return 0;
    return NS_EACH(CALLS, runtime_copy((void *)(uintptr_t)dev, pinned, 4 * KB,
                                       cudaMemcpyHostToDevice, stream));
}

static void bare(void)
{
}

static void loaded(void)
{
    load_cupti();
}

static void subscribed(void)
{
    CUptiResult rc = subscribe();

    if (rc != CUPTI_SUCCESS)
        say(" {subscribe=CUPTI %d}", (int)rc);
}

static void one_driver_id(void)
{
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
}

static void some_driver_ids(void)
{
    static const CUpti_CallbackId ids[] = {
        DRIVER_CBID(cuMemcpyHtoDAsync_v2), DRIVER_CBID(cuMemcpyDtoHAsync_v2),
        DRIVER_CBID(cuMemcpyAsync),        DRIVER_CBID(cuMemsetD8Async),
        DRIVER_CBID(cuMemFree_v2),         DRIVER_CBID(cuMemFreeHost),
        DRIVER_CBID(cuMemHostUnregister),  DRIVER_CBID(cuStreamBeginCapture_v2),
        DRIVER_CBID(cuStreamEndCapture),
    };
    for (size_t i = 0; i < COUNT(ids); i++)
        enable(CUPTI_CB_DOMAIN_DRIVER_API, ids[i]);
}

static void runtime_id_too(void)
{
    enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020);
}

static void driver_domain(void)
{
    enable_domain(CUPTI_CB_DOMAIN_DRIVER_API);
}

static void runtime_domain_too(void)
{
    enable_domain(CUPTI_CB_DOMAIN_RUNTIME_API);
}

static void resource_domain_too(void)
{
    enable_domain(CUPTI_CB_DOMAIN_RESOURCE);
    enable_domain(CUPTI_CB_DOMAIN_SYNCHRONIZE);
}

static void unsubscribed(void)
{
    CUptiResult rc = cupti.unsubscribe(subscriber);

    if (rc != CUPTI_SUCCESS)
        say(" {unsubscribe=CUPTI %d}", (int)rc);
}

static void finalized(void)
{
    CUptiResult rc = cupti.finalize();

    if (rc != CUPTI_SUCCESS)
        say(" {finalize=CUPTI %d}", (int)rc);
}

/* The steps build on each other, the last two take it all away; the whole is measured twice. */
void q2(void)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } steps[] = {
        {"no libcupti", bare},
        {"loaded", loaded},
        {"subscribed", subscribed},
        {"+ cuMemcpyHtoDAsync_v2", one_driver_id},
        {"+ 8 more driver ids", some_driver_ids},
        {"+ cudaMemcpyAsync", runtime_id_too},
        {"+ the driver domain", driver_domain},
        {"+ the runtime domain", runtime_domain_too},
        {"+ resource and synchronise", resource_domain_too},
        {"unsubscribed", unsubscribed},
        {"subscribed again", subscribed},
        {"finalized", finalized},
    };

    if (set_up() != CUDA_SUCCESS)
        return;
    void *runtime = open_runtime();
    if (runtime)
        *(void **)&runtime_copy = dlsym(runtime, "cudaMemcpyAsync");
    for (size_t i = 0; i < COUNT(steps); i++) {
        say("Q2 ns a call, %s:", steps[i].name);
        steps[i].make();
        tell_best("launch", ROUNDS, launch_ns);
        tell_best("4 KB copy", ROUNDS, copy_ns);
        tell_best("cudaMemcpyAsync", ROUNDS, runtime_copy_ns);
        tell_best("record", ROUNDS, record_ns);
        tell_best("launch", ROUNDS, launch_ns);
        tell_best("4 KB copy", ROUNDS, copy_ns);
        say(" (heard %u)", heard());
        end_line();
    }
}

/* ---- Q3: two subscribers ---- */

void q3(void)
{
    CUpti_SubscriberHandle other = NULL;
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    CUpti_SubscriberParams params = {
        .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
        .subscriberName = "probe 2",
        .oldSubscriberName = holder,
        .oldSubscriberSize = sizeof holder,
    };

    say("Q3 ");
    if (!begin())
        return;
    say("first CUPTI %d", (int)subscribe());
    say(", second CUPTI %d", (int)cupti.subscribe(&other, hear, NULL));
    if (cupti.subscribe_v2)
        say(", second by _v2 CUPTI %d held by '%s'",
            (int)cupti.subscribe_v2(&other, hear, NULL, &params), holder);
    say(", unsubscribe first CUPTI %d", (int)cupti.unsubscribe(subscriber));
    if (cupti.subscribe_v2)
        say(", then second by _v2 CUPTI %d", (int)cupti.subscribe_v2(&other, hear, NULL, &params));
    say(", unsubscribe of the stale first CUPTI %d", (int)cupti.unsubscribe(subscriber));
    say(", third CUPTI %d", (int)subscribe());
    cupti.enable_callback(1, other, CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    heard();
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(", the second hears %u", heard());
    end_line();
}

/* ---- Q9: two libcuptis ---- */

void q9(void)
{
    struct cupti second = {0};
    CUpti_SubscriberHandle other = NULL;
    uint32_t version = 0;

    say("Q9 a second libcupti beside:");
    if (!getenv("PROBE_CUPTI_2")) {
        say(" not asked (PROBE_CUPTI_2)");
        end_line();
        return;
    }
    if (!begin())
        return;
    say(" first subscribe CUPTI %d", (int)subscribe());
    if (!load_cupti_from(&second, cupti_path("PROBE_CUPTI_2")))
        return;
    second.version(&version);
    say(", version %u", version);
    say(", its subscribe CUPTI %d", (int)second.subscribe(&other, hear, NULL));
    say(", unsubscribe first CUPTI %d", (int)cupti.unsubscribe(subscriber));
    CUptiResult rc = second.subscribe(&other, hear, NULL);
    say(", its subscribe CUPTI %d", (int)rc);
    if (rc == CUPTI_SUCCESS) {
        second.enable_callback(1, other, CUPTI_CB_DOMAIN_DRIVER_API,
                               DRIVER_CBID(cuMemcpyHtoDAsync_v2));
        TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
        say(", it hears %u, enable of the newest id CUPTI %d", heard(),
            (int)second.enable_callback(1, other, CUPTI_CB_DOMAIN_DRIVER_API,
                                        CUPTI_DRIVER_TRACE_CBID_SIZE - 1));
    }
    end_line();
}
