#include "asking_cupti.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct cupti cupti;
CUpti_SubscriberHandle subscriber;
CUmodule module;
CUfunction empty_kernel;
CUstream stream;
CUdeviceptr dev;
unsigned char *pinned;

const char *cupti_path(const char *variable)
{
    static const char *const places[] = {
        "/usr/local/cuda/lib64/libcupti.so.13",
        "/usr/local/cuda/lib/libcupti.so.13",
        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
        "/opt/torch/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libcupti.so.13",
        "/opt/torch/.venv/lib/python3*/site-packages/nvidia/cuda_cupti/lib/libcupti.so.13",
        "/usr/l*/python3*/*-packages/nvidia/cu*/lib/libcupti.so.13",
    };
    static glob_t found;

    if (getenv(variable))
        return getenv(variable);
    for (size_t i = 0; i < COUNT(places); i++)
        if (glob(places[i], 0, NULL, &found) == 0)
            return found.gl_pathv[0];
    return "libcupti.so.13";
}

bool load_cupti_from(struct cupti *c, const char *path)
{
    c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!c->library) {
        say(" {%s}", dlerror());
        return false;
    }
#define FIND(member, function) *(void **)&c->member = dlsym(c->library, #function);
    CUPTI_CALLBACK_CALLS(FIND)
    CUPTI_ACTIVITY_CALLS(FIND)
#undef FIND
    return c->subscribe && c->unsubscribe && c->enable_callback;
}

bool load_cupti(void)
{
    return load_cupti_from(&cupti, cupti_path("PROBE_CUPTI"));
}

CUptiResult check_cupti(const char *call, CUptiResult rc)
{
    if (rc != CUPTI_SUCCESS)
        say(" {%s=CUPTI %d}", call, (int)rc);
    return rc;
}

void enable(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    CUptiResult rc = cupti.enable_callback(1, subscriber, domain, cbid);

    if (rc != CUPTI_SUCCESS)
        say(" {enable %d.%u=CUPTI %d}", (int)domain, cbid, (int)rc);
}

void enable_domain(CUpti_CallbackDomain domain)
{
    CUptiResult rc = cupti.enable_domain(1, subscriber, domain);

    if (rc != CUPTI_SUCCESS)
        say(" {enable domain %d=CUPTI %d}", (int)domain, (int)rc);
}

CUresult set_up_with(size_t memory_bytes)
{
    CUresult rc = enter_primary();

    if (rc != CUDA_SUCCESS)
        return rc;
    empty_kernel = load_kernel("empty", &module);
    if (!empty_kernel)
        return CUDA_ERROR_NOT_FOUND;
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRY(cuMemAllocHost((void **)&pinned, memory_bytes));
    return TRY(cuMemAlloc(&dev, memory_bytes));
}

double best_of(unsigned rounds, double (*measure)(void))
{
    double best = 1e12;

    for (unsigned i = 0; i < rounds; i++) {
        double took = measure();
        TRY(cuStreamSynchronize(stream));
        best = took < best ? took : best;
    }
    return best;
}

void tell_best(const char *name, unsigned rounds, double (*measure)(void))
{
    say(" %s %.0f", name, best_of(rounds, measure));
}

double launch_ns(void)
{
    return NS_EACH(CALLS, launch(empty_kernel, stream));
}

double copy_ns(void)
{
    return NS_EACH(CALLS, cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream));
}

long thread_id(void)
{
    return syscall(SYS_gettid);
}
