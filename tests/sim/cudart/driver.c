/* Reaching the driver, and the frame of every runtime call: what it needs, what it leaves. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "runtime.h"

#define MAX_DEVICES 64

struct rt_driver rt_driver[2];

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static CUresult load_result;

static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[MAX_DEVICES];

static __thread int thread_device;
static __thread CUcontext thread_primary; /* what it was made current to by us, last */
static __thread cudaError_t last_error;
static _Atomic int sticky_error; /* a lost context fails every later call of the process */

static _Atomic(sim_cudart_callback *) hook;

static void find_functions(__typeof__(&cuGetProcAddress) find, struct rt_driver *table,
                           cuuint64_t flags)
{
    CUdriverProcAddressQueryResult found;
    int version = CUDART_VERSION;
#define FIND(name)                                                                                 \
    if (find(#name, (void **)&table->p_##name, version, flags, &found) != CUDA_SUCCESS)            \
        table->p_##name = NULL;
    RT_DRIVER_FUNCTIONS(FIND)
    version = 12000;
    RT_DRIVER_FUNCTIONS_12000(FIND)
#undef FIND
}

/* The real runtime's route, step by step: preloaded libraries are met on exactly this one. */
static void load_driver(void)
{
    load_result = (CUresult)cudaErrorInsufficientDriver;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return;
    void *address = dlsym(library, "cuGetProcAddress_v2");
    if (!address)
        return;
    __typeof__(&cuGetProcAddress) find = (__typeof__(&cuGetProcAddress))address;
    find_functions(find, &rt_driver[RT_LEGACY], CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    find_functions(find, &rt_driver[RT_PER_THREAD], CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    if (rt_driver[RT_LEGACY].p_cuInit) /* else the driver is older than this runtime */
        load_result = CALL(cuInit, 0);
}

CUresult rt_primary(int device, CUcontext *context)
{
    int count = 0;
    CUresult result = CALL(cuDeviceGetCount, &count);
    if (result != CUDA_SUCCESS)
        return result;
    if (device < 0 || device >= count || device >= MAX_DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;

    pthread_mutex_lock(&primary_lock);
    if (!primary[device])
        result = CALL(cuDevicePrimaryCtxRetain, &primary[device], device);
    *context = primary[device];
    pthread_mutex_unlock(&primary_lock);
    return result;
}

CUresult rt_bind_device(int device)
{
    CUcontext context = NULL;
    CUresult result = rt_primary(device, &context);
    if (result == CUDA_SUCCESS)
        result = CALL(cuCtxSetCurrent, context);
    if (result == CUDA_SUCCESS) {
        thread_device = device;
        thread_primary = context;
    }
    return result;
}

CUresult rt_device(int *device)
{
    *device = thread_device;
    if (!rt_current_context())
        return CUDA_SUCCESS;
    CUdevice of_context;
    CUresult result = CALL(cuCtxGetDevice, &of_context);
    if (result == CUDA_SUCCESS)
        *device = of_context;
    return result;
}

/* The primary context that the thread was given last may have been reset, by another thread too. */
static bool has_been_reset(CUcontext current)
{
    if (current != thread_primary)
        return false;
    pthread_mutex_lock(&primary_lock);
    bool is_gone = primary[thread_device] != current;
    pthread_mutex_unlock(&primary_lock);
    return is_gone;
}

CUcontext rt_current_context(void)
{
    CUcontext current = NULL;
    if (CALL(cuCtxGetCurrent, &current) != CUDA_SUCCESS)
        return NULL;
    return current && !has_been_reset(current) ? current : NULL;
}

CUresult rt_reset_device(void)
{
    int device;
    CUresult result = rt_device(&device);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&primary_lock);
    CUcontext gone = primary[device];
    primary[device] = NULL;
    pthread_mutex_unlock(&primary_lock);
    rt_forget_modules(gone);
    return gone ? CALL(cuDevicePrimaryCtxReset, device) : CUDA_SUCCESS;
}

/* A context that the program made current through the driver API is respected. */
static CUresult need_context(void)
{
    return rt_current_context() ? CUDA_SUCCESS : rt_bind_device(thread_device);
}

static void announce(const struct rt_call *call, int enter, int result)
{
    if (call->callback)
        call->callback(enter, call->site->cbid, call->site->name, call->params, result);
}

CUresult rt_enter(struct rt_call *call, enum rt_need need)
{
    if (need != RT_NOTHING)
        pthread_once(&load_once, load_driver);
    call->callback = atomic_load_explicit(&hook, memory_order_acquire);
    announce(call, 1, cudaSuccess);
    if (need == RT_NOTHING)
        return CUDA_SUCCESS;
    if (load_result != CUDA_SUCCESS)
        return load_result;
    return need == RT_CONTEXT ? need_context() : CUDA_SUCCESS;
}

cudaError_t rt_leave_quietly(struct rt_call *call, cudaError_t result)
{
    announce(call, 0, result);
    return result;
}

static bool is_sticky(cudaError_t error)
{
    return error == cudaErrorIllegalAddress || error == cudaErrorLaunchTimeout ||
           error == cudaErrorAssert ||
           (error >= cudaErrorHardwareStackError && error <= cudaErrorLaunchFailure);
}

cudaError_t rt_leave(struct rt_call *call, CUresult result)
{
    cudaError_t error = (cudaError_t)result; /* the two enumerations share their numbers */
    if (error != cudaSuccess && error != cudaErrorNotReady) /* which is an answer, no error */
        last_error = error;
    if (is_sticky(error))
        atomic_store(&sticky_error, error);
    return rt_leave_quietly(call, error);
}

cudaError_t rt_last_error(bool take)
{
    cudaError_t error = last_error;
    if (take)
        last_error = (cudaError_t)atomic_load(&sticky_error);
    return error;
}

void sim_cudart_set_callback(sim_cudart_callback *callback)
{
    atomic_store_explicit(&hook, callback, memory_order_release);
}

extern const struct rt_site first_site[] __asm__("__start_rt_sites");
extern const struct rt_site end_of_sites[] __asm__("__stop_rt_sites");

const char *sim_cudart_name(int cbid)
{
    for (const struct rt_site *site = first_site; site < end_of_sites; site++)
        if (site->cbid == cbid)
            return site->name;
    return NULL;
}
