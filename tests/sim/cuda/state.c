/* The lock, the clock, and what start, fork and exit do to every call. */
#include "announce.h"
#include "api.h"
#include "engine.h"
#include "memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

_Atomic int sim_state;
_Atomic(sim_callback *) sim_hook;
__thread struct sim_thread sim_thread;

static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_key;
static _Atomic uint64_t thread_ids;

void sim_lock(void)
{
    pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
    pthread_mutex_unlock(&lock);
    if (__builtin_expect(sim_thread.announces, 0))
        sim_announce_deliver();
}

uint64_t sim_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

CUresult sim_gate_refusal(int state)
{
    switch (state) {
    case SIM_READY:
        return CUDA_ERROR_NOT_PERMITTED; /* called by a host function */
    case SIM_EXITED:
        return CUDA_ERROR_DEINITIALIZED;
    default:
        return CUDA_ERROR_NOT_INITIALIZED;
    }
}

static void after_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&sim_state, SIM_FORKED);
}

static void at_exit(void)
{
    int ready = SIM_READY;
    if (atomic_compare_exchange_strong(&sim_state, &ready, SIM_EXITED))
        sim_engine_stop();
}

static void thread_ends(void *unused)
{
    (void)unused;
    sim_lock();
    for (CUstream s = sim_thread.default_streams, next; s; s = next) {
        next = s->next_of_thread;
        s->magic = 0;
        sim_stream_unref_locked(s);
    }
    sim_thread.default_streams = NULL;
    sim_unlock();
    free(sim_thread.stack);
    sim_thread.stack = NULL;
    sim_thread.depth = sim_thread.capacity = 0;
    sim_thread.registered = false;
}

void sim_thread_register(void)
{
    if (!sim_thread.registered) {
        sim_thread.registered = true;
        sim_thread.id = atomic_fetch_add(&thread_ids, 1) + 1;
        pthread_setspecific(thread_key, &sim_thread);
    }
}

/* The device thread outlives any dlclose. */
static void pin_library(void)
{
    Dl_info info;
    if (dladdr(&sim_state, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* As the real one, a driver that nobody has used is torn down like any other. */
static __attribute__((destructor)) void torn_down(void)
{
    int untouched = SIM_UNTOUCHED;
    atomic_compare_exchange_strong(&sim_state, &untouched, SIM_EXITED);
}

/* Who has used a device has its files mapped. */
static void map_device(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    int file = memfd_create("/dev/nvidia-sim", MFD_CLOEXEC);
    if (file < 0)
        return;
    if (ftruncate(file, (off_t)bytes) == 0)
        mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
}

static CUresult start(void)
{
    sim_options_read();
    if (sim_options.devices == 0)
        return CUDA_ERROR_NO_DEVICE;
    if (sim_memory_start() != 0 || pthread_key_create(&thread_key, thread_ends) != 0 ||
        pthread_atfork(NULL, NULL, after_fork_child) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pin_library();
    map_device();
    atexit(at_exit);
    atomic_store(&sim_state, SIM_READY);
    return CUDA_SUCCESS;
}

/* A tool that the environment names is loaded when the driver comes up. */
static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *address = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialise)(void) = (__typeof__(initialise))(uintptr_t)address;
    if (initialise)
        initialise();
}

SIM_API_EARLY(cuInit, (unsigned int Flags), Flags)
{
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_load(&sim_state) == SIM_READY)
        return CUDA_SUCCESS;
    if (atomic_load(&sim_state) != SIM_UNTOUCHED)
        return sim_gate_refusal(atomic_load(&sim_state));
    pthread_mutex_lock(&start_lock);
    CUresult result = CUDA_SUCCESS;
    bool starts = atomic_load(&sim_state) == SIM_UNTOUCHED;
    if (starts)
        result = start();
    pthread_mutex_unlock(&start_lock);
    if (starts && result == CUDA_SUCCESS)
        inject();
    return result;
}

int sim_driver_version(void)
{
    return atomic_load(&sim_state) == SIM_UNTOUCHED ? sim_options_driver() : sim_options.driver;
}

SIM_API_EARLY(cuDriverGetVersion, (int *driverVersion), driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = sim_driver_version();
    return CUDA_SUCCESS;
}

void sim_cuda_set_callback(sim_callback *callback)
{
    atomic_store(&sim_hook, callback);
}
