/* Who is heard, where, and around captures, fork and exit. */
#include "ear.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Q4: who is heard: ways to reach the driver ---- */

static void q4_way(const char *name, CUresult (*copy)(CUdeviceptr, const void *, size_t, CUstream))
{
    heard();
    if (!copy)
        say(" %s: none;", name);
    else if (copy(dev, pinned, 64, stream) == CUDA_SUCCESS)
        say(" %s: %u;", name, heard());
}

void q4(void)
{
    CUresult (*before)(CUdeviceptr, const void *, size_t, CUstream) = NULL;
    CUresult (*after)(CUdeviceptr, const void *, size_t, CUstream) = NULL;
    CUdriverProcAddressQueryResult status;

    say("Q4 callbacks heard of one copy:");
    if (set_up() != CUDA_SUCCESS)
        return;
    TRY(cuGetProcAddress("cuMemcpyHtoDAsync", (void **)&before, 12000, 0, &status));
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    if (!load_cupti())
        return;
    say(" (subscribe CUPTI %d)", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2_ptsz));
    q4_way("by symbol", cuMemcpyHtoDAsync);
    q4_way("by cuGetProcAddress before", before);
    TRY(cuGetProcAddress("cuMemcpyHtoDAsync", (void **)&after, 12000, 0, &status));
    q4_way(after == before ? "after (same)" : "after (another)", after);
    TRY(cuGetProcAddress("cuMemcpyHtoDAsync", (void **)&after, 12000, 2, &status));
    q4_way("_ptsz", after);
    void *again = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
    say(" dlmopen of a second libcuda: %s", again ? "loads" : dlerror());
    end_line();
}

/* ---- Q6: threads, re-entry, unsubscribing while a callback runs ---- */

static void *copy_once(void *unused)
{
    (void)unused;
    cuCtxSetCurrent(primary);
    cuMemcpyHtoDAsync(dev, pinned, 64, stream);
    return NULL;
}

static void unsubscribe_beside(void)
{
    pthread_t thread;

    say("Q6 unsubscribing while a callback of 100 ms runs elsewhere:");
    ear.linger_ms = 100;
    if (pthread_create(&thread, NULL, copy_once, NULL) != 0)
        return;
    while (atomic_load(&ear.inside) == 0)
        sleep_ms(1);
    uint64_t start = now_ns();
    CUptiResult rc = cupti.unsubscribe(subscriber);
    say(" CUPTI %d after %.1f ms, callbacks still inside: %d", (int)rc, ms_since(start),
        atomic_load(&ear.inside));
    pthread_join(thread, NULL);
    ear.linger_ms = 0;
    say(", callbacks in all %u (2: the exit was still delivered)", heard());
    end_line();
}

void q6(void)
{
    say("Q6 a copy on this thread:");
    if (!begin())
        return;
    say(" (subscribe CUPTI %d)", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuStreamQuery));
    ear.caller = thread_id();
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(" %u callbacks, elsewhere: %d", heard(), (int)ear.elsewhere);
    end_line();
    ear.caller = 0;
    say("Q6 a driver call inside a callback:");
    ear.call_driver = true;
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    ear.call_driver = false;
    say(" %u callbacks (2: the inner call is not announced)", heard());
    end_line();
    unsubscribe_beside();
    say("Q6 unsubscribing inside the enter callback:");
    subscribe();
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    ear.unsubscribe = true;
    CUresult rc = cuMemcpyHtoDAsync(dev, pinned, 64, stream);
    say(" CUPTI %d, copy %d, callbacks %u", ear.unsubscribed, (int)rc, heard());
    end_line();
}

/* ---- Q7: captures ---- */

void q7(void)
{
    CUgraph graph = NULL;
    size_t nodes = 0;

    say("Q7 during a global capture:");
    if (set_up() != CUDA_SUCCESS)
        return;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (!load_cupti())
        return;
    say(" subscribe CUPTI %d", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(", heard %u, unsubscribe CUPTI %d", heard(), (int)cupti.unsubscribe(subscriber));
    say(", end %d", (int)cuStreamEndCapture(stream, &graph));
    if (graph)
        cuGraphGetNodes(graph, NULL, &nodes);
    say(" with %zu node", nodes);
    end_line();
    say("Q7 resource callbacks of a capture, an exec, a launch, and their end:");
    subscribe();
    enable_domain(CUPTI_CB_DOMAIN_RESOURCE);
    ear.tell = true;
    CUgraphExec exec = NULL;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    TRY(cuStreamEndCapture(stream, &graph));
    say(" |instantiate");
    TRY(cuGraphInstantiate(&exec, graph, 0));
    say(" |launch");
    TRY(cuGraphLaunch(exec, stream));
    TRY(cuStreamSynchronize(stream));
    say(" |destroy");
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
    end_line();
}

/* ---- Q8: fork and exit ---- */

static void child_of_fork(void)
{
    alarm(5);
    say(" child: cuInit %d", (int)cuInit(0));
    say(", copy %d", (int)cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(", heard %u", heard());
    say(", unsubscribe CUPTI %d", (int)cupti.unsubscribe(subscriber));
    say(", subscribe CUPTI %d", (int)subscribe());
    end_line();
    _exit(0);
}

static void at_exit_say(void)
{
    say(" in atexit: copy %d", (int)cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(" heard %u", heard());
    say(", unsubscribe CUPTI %d", (int)cupti.unsubscribe(subscriber));
    end_line();
}

static _Atomic bool late_calls;

static __attribute__((destructor)) void in_destructor(void)
{
    if (!atomic_load(&late_calls))
        return;
    say("Q8 in a destructor: copy %d", (int)cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    say(" heard %u", heard());
    say(", unsubscribe CUPTI %d", (int)cupti.unsubscribe(subscriber));
    end_line();
}

void q8(void)
{
    int status = 0;

    say("Q8 fork while subscribed:");
    if (!begin())
        return;
    say(" (subscribe CUPTI %d)", (int)subscribe());
    enable(CUPTI_CB_DOMAIN_DRIVER_API, DRIVER_CBID(cuMemcpyHtoDAsync_v2));
    pid_t child = fork();
    if (child == 0)
        child_of_fork();
    waitpid(child, &status, 0);
    say("Q8 child ended with %d of signal %d; the parent's copy is heard %s", WEXITSTATUS(status),
        WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        cuMemcpyHtoDAsync(dev, pinned, 64, stream) == CUDA_SUCCESS && heard() ? "yes" : "no");
    end_line();
    say("Q8 exit while subscribed:");
    atexit(at_exit_say);
    atomic_store(&late_calls, true);
    exit(0);
}
