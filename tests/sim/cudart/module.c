/*
 * The code that a program carries: nvcc's constructors register each image with its kernels and
 * variables, and a context loads an image when it first uses something of it.
 *
 * Registered things are never forgotten while their image is registered, so a pointer to one is a
 * valid handle; cudaGetKernel gives it out as cudaKernel_t.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

#pragma GCC visibility push(default)
void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *hostFun, char *deviceFun,
                            const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *bDim, dim3 *gDim, int *wSize);
void __cudaRegisterVar(void **handle, char *hostVar, char *deviceAddress, const char *deviceName,
                       int ext, size_t size, int constant, int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *symbol);
#pragma GCC visibility pop

/* What nvcc puts before an image; the driver is given `data`. */
struct fat_wrapper {
    int magic, version;
    const void *data;
    void *more;
};

struct image {
    const struct fat_wrapper *wrapper;
    struct image *next;
};

struct symbol {
    const void *host;
    const char *name;
    struct image *image;
    struct symbol *next;
};

/* An image as loaded into one context. */
struct loaded {
    struct image *image;
    CUcontext context;
    CUmodule module;
    struct loaded *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
static struct symbol *symbols;
static struct loaded *loadeds;

void **__cudaRegisterFatBinary(void *fatCubin)
{
    struct image *image = malloc(sizeof *image);
    if (!image)
        abort();
    pthread_mutex_lock(&lock);
    *image = (struct image){fatCubin, images};
    images = image;
    pthread_mutex_unlock(&lock);
    return (void **)(void *)image;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

static void register_symbol(void **handle, const void *host, const char *name)
{
    struct symbol *symbol = malloc(sizeof *symbol);
    if (!symbol)
        abort();
    pthread_mutex_lock(&lock);
    *symbol = (struct symbol){host, name, (struct image *)(void *)handle, symbols};
    symbols = symbol;
    pthread_mutex_unlock(&lock);
}

void __cudaRegisterFunction(void **handle, const char *hostFun, char *deviceFun,
                            const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *bDim, dim3 *gDim, int *wSize)
{
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    register_symbol(handle, hostFun, deviceName);
}

void __cudaRegisterVar(void **handle, char *hostVar, char *deviceAddress, const char *deviceName,
                       int ext, size_t size, int constant, int global)
{
    (void)deviceAddress, (void)ext, (void)size, (void)constant, (void)global;
    register_symbol(handle, hostVar, deviceName);
}

static void drop_loaded(const struct image *image, CUcontext context)
{
    for (struct loaded **at = &loadeds; *at;) {
        struct loaded *one = *at;
        if (one->image == image || (context && one->context == context)) {
            *at = one->next;
            free(one);
        } else {
            at = &one->next;
        }
    }
}

/* Runs at process exit, when the driver may be gone already: it is not told. */
void __cudaUnregisterFatBinary(void **handle)
{
    struct image *image = (struct image *)(void *)handle;
    pthread_mutex_lock(&lock);
    drop_loaded(image, NULL);
    for (struct symbol **at = &symbols; *at;) {
        struct symbol *one = *at;
        if (one->image == image) {
            *at = one->next;
            free(one);
        } else {
            at = &one->next;
        }
    }
    for (struct image **at = &images; *at; at = &(*at)->next) {
        if (*at == image) {
            *at = image->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    free(image);
}

void rt_forget_modules(CUcontext context)
{
    pthread_mutex_lock(&lock);
    drop_loaded(NULL, context);
    pthread_mutex_unlock(&lock);
}

static struct symbol *find_symbol_locked(const void *symbol)
{
    struct symbol *at = symbols;
    while (at && at->host != symbol && at != symbol)
        at = at->next;
    return at;
}

/* Loads the image into the current context unless that was done before. */
static CUresult load_image_locked(struct image *image, CUmodule *module)
{
    CUcontext context = NULL;
    CUresult result = CALL(cuCtxGetCurrent, &context);
    if (result != CUDA_SUCCESS)
        return result;
    for (struct loaded *at = loadeds; at; at = at->next) {
        if (at->image == image && at->context == context) {
            *module = at->module;
            return CUDA_SUCCESS;
        }
    }
    struct loaded *fresh = malloc(sizeof *fresh);
    if (!fresh)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = CALL(cuModuleLoadData, module, image->wrapper->data);
    if (result != CUDA_SUCCESS) {
        free(fresh);
        return result;
    }
    *fresh = (struct loaded){image, context, *module, loadeds};
    loadeds = fresh;
    return CUDA_SUCCESS;
}

/* Finds a registered symbol's module and name; `missing` is the answer where there is none. */
static CUresult resolve(const void *symbol, CUresult missing, CUmodule *module, const char **name)
{
    pthread_mutex_lock(&lock);
    struct symbol *found = find_symbol_locked(symbol);
    CUresult result = found ? load_image_locked(found->image, module) : missing;
    if (found)
        *name = found->name;
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult rt_function(const void *symbol, CUfunction *function)
{
    CUmodule module;
    const char *name = NULL;
    CUresult result = resolve(symbol, CUDA_ERROR_INVALID_HANDLE, &module, &name);
    return result == CUDA_SUCCESS ? CALL(cuModuleGetFunction, function, module, name) : result;
}

CUresult rt_variable(const void *symbol, CUdeviceptr *address, size_t *size_bytes)
{
    CUmodule module;
    const char *name = NULL;
    CUresult result = resolve(symbol, (CUresult)cudaErrorInvalidSymbol, &module, &name);
    if (result == CUDA_SUCCESS)
        result = CALL(cuModuleGetGlobal, address, size_bytes, module, name);
    return result;
}

const char *rt_function_name(const void *symbol)
{
    pthread_mutex_lock(&lock);
    struct symbol *found = find_symbol_locked(symbol);
    const char *name = found ? found->name : NULL;
    pthread_mutex_unlock(&lock);
    return name;
}

/* kernel<<<...>>>(...) pushes its configuration, and the kernel's host stub pops it. */

#define MAX_NESTED_LAUNCHES 8

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    void *stream;
};

static __thread struct configuration pushed[MAX_NESTED_LAUNCHES];
static __thread unsigned pushed_count;

unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, void *stream)
{
    if (pushed_count == MAX_NESTED_LAUNCHES)
        return cudaErrorInvalidConfiguration;
    pushed[pushed_count++] = (struct configuration){gridDim, blockDim, sharedMem, stream};
    return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream)
{
    if (pushed_count == 0)
        return cudaErrorMissingConfiguration;
    const struct configuration *top = &pushed[--pushed_count];
    *gridDim = top->grid;
    *blockDim = top->block;
    *sharedMem = top->shared_bytes;
    *(void **)stream = top->stream;
    return cudaSuccess;
}

/* Kernels and variables by their host side. */

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *symbol)
{
    pthread_mutex_lock(&lock);
    *kernel = (cudaKernel_t)(void *)find_symbol_locked(symbol);
    pthread_mutex_unlock(&lock);
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    ENTER(cudaGetKernel_v12000, kernelPtr, entryFuncAddr);
    LEAVE(__cudaGetKernel(kernelPtr, entryFuncAddr));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    ENTER(cudaGetFuncBySymbol_v11000, functionPtr, symbolPtr);
    LEAVE(rt_function(symbolPtr, functionPtr));
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    ENTER(cudaFuncGetName_v12030, name, func);
    *name = rt_function_name(func);
    LEAVE(*name ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    ENTER(cudaFuncSetAttribute_v9000, func, attr, value);
    CUfunction function;
    CUresult result = rt_function(func, &function);
    if (result == CUDA_SUCCESS)
        result = CALL(cuFuncSetAttribute, function, (CUfunction_attribute)attr, value);
    LEAVE(result);
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    ENTER(cudaGetSymbolAddress_v3020, devPtr, symbol);
    size_t size_bytes;
    LEAVE(rt_variable(symbol, (CUdeviceptr *)(void *)devPtr, &size_bytes));
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    ENTER(cudaGetSymbolSize_v3020, size, symbol);
    CUdeviceptr address;
    LEAVE(rt_variable(symbol, &address, size));
}
