/* Modules, libraries and kernels. Any image loads, any name is found, and no code runs. */
#include "announce.h"
#include "api.h"
#include "capture.h"
#include "copy.h"
#include "cubin.h"
#include "kernel.h"
#include "memory.h"
#include "ptx.h"

#include <stdlib.h>
#include <string.h>

/* A library and a module are one object here. So are a function and a kernel, of which the second
 * is named by an odd handle: the driver knows the two apart. */
struct CUfunc_st {
    CUfunction next;
    CUmodule module;
    int parameter_count; /* -1: not known */
    bool was_launched;
    struct sim_parameter parameters[SIM_PARAMETERS_MAX];
    char name[];
};

struct CUmod_st {
    uint32_t magic;
    CUfunction functions;
    unsigned count;
    char *text;  /* NULL: no PTX */
    char *image; /* what the device has; NULL: not known */
    size_t image_bytes;
    bool uses_heap, uses_printf;
    CUdevice device; /* where it has memory; -1: nowhere */
};

static CUmodule of_library(CUlibrary library)
{
    return (CUmodule)(void *)library;
}

static CUfunction of_kernel(CUkernel kernel)
{
    return (CUfunction)((uintptr_t)kernel & ~(uintptr_t)1);
}

static CUkernel kernel_of(CUfunction function)
{
    return (CUkernel)((uintptr_t)function | 1);
}

static bool is_kernel(const void *handle)
{
    return (uintptr_t)handle & 1;
}

static void announce_locked(CUmodule module)
{
    sim_announce_locked(&(struct sim_event){.resource = SIM_MODULE_LOADED,
                                            .context = sim_context_current(),
                                            .image = module->image,
                                            .image_bytes = module->image_bytes});
}

static CUresult load(CUmodule *module, const void *image)
{
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    *module = calloc(1, sizeof **module);
    if (!*module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*module)->magic = MAGIC_MODULE;
    (*module)->device = sim_context_current() ? sim_context_current()->device : -1;
    (*module)->text = sim_ptx_copy(image);
    (*module)->image = (*module)->text ? sim_cubin_of_text((*module)->text, &(*module)->image_bytes)
                                       : sim_cubin_copy(image, &(*module)->image_bytes);
    sim_lock();
    if ((*module)->device >= 0)
        sim_budget_own_locked((*module)->device, SIM_MODULE_BYTES, false);
    announce_locked(*module);
    sim_unlock();
    (*module)->uses_heap = (*module)->text && sim_ptx_calls((*module)->text, "malloc");
    (*module)->uses_printf = (*module)->text && sim_ptx_calls((*module)->text, "vprintf");
    return CUDA_SUCCESS;
}

static CUresult unload(CUmodule module)
{
    if (!module || module->magic != MAGIC_MODULE)
        return CUDA_ERROR_INVALID_HANDLE;
    SIM_REFUSED_IN_A_CAPTURE();
    sim_lock();
    for (CUfunction f = module->functions, next; f; f = next) {
        next = f->next;
        free(f);
    }
    module->magic = 0;
    if (module->device >= 0)
        sim_budget_own_locked(module->device, SIM_MODULE_BYTES, true);
    sim_unlock();
    free(module->text);
    free(module->image);
    free(module);
    return CUDA_SUCCESS;
}

static CUresult find(CUmodule module, const char *name, CUfunction *function)
{
    if (!module || module->magic != MAGIC_MODULE || !name || !function)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUfunction f = module->functions;
    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    if (!f && (f = calloc(1, sizeof *f + strlen(name) + 1)) != NULL) {
        strcpy(f->name, name);
        f->parameter_count =
            module->text ? sim_ptx_parameters(module->text, name, f->parameters) : -1;
        f->module = module;
        f->next = module->functions;
        module->functions = f;
        module->count++;
    }
    sim_unlock();
    *function = f;
    return f ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* All parameters in one buffer, or NULL. */
static const char *buffer_of(void **extra)
{
    const char *buffer = NULL;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2)
        buffer = extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER ? extra[i + 1] : buffer;
    return buffer;
}

/* A parameter of eight bytes lies at each multiple of eight in a buffer. */
static bool read_parameter(void **params, void **extra, size_t index, void *to, size_t bytes)
{
    const char *buffer = params ? NULL : buffer_of(extra);
    const char *from = params ? params[index] : buffer ? buffer + 8 * index : NULL;
    if (from)
        memcpy(to, from, bytes);
    return from != NULL;
}

static CUresult copy_work(void **params, void **extra, struct sim_work *work)
{
    uintptr_t to, from;
    uint32_t bytes;
    if (!read_parameter(params, extra, 0, &to, sizeof to) ||
        !read_parameter(params, extra, 1, &from, sizeof from) ||
        !read_parameter(params, extra, 2, &bytes, sizeof bytes))
        return CUDA_ERROR_INVALID_VALUE;
    work->kind = WORK_KERNEL_COPY;
    work->copy = sim_copy_flat(to, from, bytes);
    return CUDA_SUCCESS;
}

static CUresult serve_work(void **params, void **extra, struct sim_work *work)
{
    uintptr_t bell, answer;
    uint32_t turns;
    if (!read_parameter(params, extra, 0, &bell, sizeof bell) ||
        !read_parameter(params, extra, 1, &answer, sizeof answer) ||
        !read_parameter(params, extra, 2, &turns, sizeof turns)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    work->kind = WORK_KERNEL_SERVE;
    work->serve = (struct sim_serve){{.address = bell}, {.address = answer}, turns};
    return CUDA_SUCCESS;
}

static CUresult touch_work(void **params, void **extra, struct sim_work *work)
{
    uintptr_t address;
    uint64_t bytes;
    if (!read_parameter(params, extra, 0, &address, sizeof address) ||
        !read_parameter(params, extra, 1, &bytes, sizeof bytes))
        return CUDA_ERROR_INVALID_VALUE;
    work->kind = WORK_KERNEL_TOUCH;
    work->touch = (struct sim_touch){.address = address, .bytes = bytes};
    return CUDA_SUCCESS;
}

static CUresult count_work(void **params, void **extra, struct sim_work *work)
{
    work->kind = WORK_KERNEL_COUNT;
    return read_parameter(params, extra, 0, &work->condition, sizeof work->condition)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_kernel_work(CUfunction handle, void **params, void **extra, struct sim_work *work)
{
    CUfunction function = of_kernel((CUkernel)(void *)handle);
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (strcmp(function->name, "copy_bytes") == 0)
        return copy_work(params, extra, work);
    if (strcmp(function->name, "serve_words") == 0)
        return serve_work(params, extra, work);
    if (strcmp(function->name, "touch_bytes") == 0)
        return touch_work(params, extra, work);
    if (strcmp(function->name, "count_down") == 0)
        return count_work(params, extra, work);
    work->kind = strcmp(function->name, "fault") == 0 ? WORK_FAULT : WORK_KERNEL;
    if (strcmp(function->name, "store_at_null") == 0)
        work->kind = WORK_BAD_STORE;
    work->kernel_ns = sim_options.kernel_ns;
    if (strcmp(function->name, "spin") == 0 &&
        !read_parameter(params, extra, 0, &work->kernel_ns, sizeof work->kernel_ns))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

void sim_kernel_fixes_limits_locked(CUfunction handle, CUcontext context)
{
    const CUfunction function = of_kernel((CUkernel)(void *)handle);
    const CUmodule module = function->module;
    if (!function->was_launched)
        sim_budget_own_locked(context->device, SIM_LAUNCH_BYTES, false);
    function->was_launched = true;
    if (module->uses_heap && !context->heap_is_fixed)
        sim_budget_own_locked(context->device, context->limits[CU_LIMIT_MALLOC_HEAP_SIZE], false);
    context->heap_is_fixed |= module->uses_heap;
    context->printf_is_fixed |= module->uses_printf;
}

struct sim_values {
    unsigned users;
    void *of[SIM_PARAMETERS_MAX];
    _Alignas(16) char bytes[];
};

struct sim_values *sim_values_copy(CUDA_KERNEL_NODE_PARAMS *params)
{
    CUfunction f = of_kernel(params->func ? (CUkernel)(void *)params->func : params->kern);
    const char *buffer = params->kernelParams ? NULL : buffer_of(params->extra);
    int count = f && (params->kernelParams || buffer) ? f->parameter_count : 0;
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size = f->parameters[i].offset + f->parameters[i].size;
    struct sim_values *values = size ? calloc(1, sizeof *values + size) : NULL;
    if (!values)
        return NULL;
    values->users = 1;
    for (int i = 0; i < count; i++) {
        const struct sim_parameter *p = &f->parameters[i];
        const void *from = buffer ? buffer + p->offset : params->kernelParams[i];
        values->of[i] = values->bytes + p->offset;
        memcpy(values->of[i], from, p->size);
    }
    params->kernelParams = values->of;
    params->extra = NULL;
    return values;
}

void sim_values_share_locked(struct sim_values *values)
{
    if (values)
        values->users++;
}

void sim_values_give_locked(struct sim_values *values)
{
    if (values && --values->users == 0)
        free(values);
}

SIM_API(cuModuleLoad, (CUmodule * module, const char *fname), module, fname)
{
    return load(module, fname);
}

SIM_API(cuModuleLoadData, (CUmodule * module, const void *image), module, image)
{
    return load(module, image);
}

SIM_API(cuModuleLoadDataEx,
        (CUmodule * module, const void *image, unsigned int numOptions, CUjit_option *options,
         void **optionValues),
        module, image, numOptions, options, optionValues)
{
    (void)numOptions, (void)options, (void)optionValues;
    return load(module, image);
}

SIM_API(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin), module, fatCubin)
{
    return load(module, fatCubin);
}

SIM_API(cuModuleUnload, (CUmodule hmod), hmod)
{
    return unload(hmod);
}

SIM_API(cuModuleGetFunction, (CUfunction * hfunc, CUmodule hmod, const char *name), hfunc, hmod,
        name)
{
    return find(hmod, name, hfunc);
}

SIM_API(cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode), mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

SIM_API(cuLibraryLoadData,
        (CUlibrary * library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
         unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
         unsigned int numLibraryOptions),
        library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
        libraryOptionValues, numLibraryOptions)
{
    (void)jitOptions, (void)jitOptionsValues, (void)numJitOptions;
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    CUmodule module = NULL;
    CUresult result = library ? load(&module, code) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *library = (CUlibrary)(void *)module;
    return result;
}

SIM_API(cuLibraryUnload, (CUlibrary library), library)
{
    return unload(of_library(library));
}

SIM_API(cuLibraryGetKernel, (CUkernel * pKernel, CUlibrary library, const char *name), pKernel,
        library, name)
{
    CUfunction function = NULL;
    CUresult result =
        pKernel ? find(of_library(library), name, &function) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *pKernel = kernel_of(function);
    return result;
}

SIM_API(cuLibraryGetModule, (CUmodule * pMod, CUlibrary library), pMod, library)
{
    if (!pMod || !library)
        return CUDA_ERROR_INVALID_VALUE;
    *pMod = of_library(library);
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetFunction, (CUfunction * pFunc, CUkernel kernel), pFunc, kernel)
{
    if (!pFunc || !kernel)
        return CUDA_ERROR_INVALID_VALUE;
    *pFunc = of_kernel(kernel);
    return CUDA_SUCCESS;
}

static CUresult name_of(const char **name, CUfunction function)
{
    if (!name || !function)
        return CUDA_ERROR_INVALID_VALUE;
    *name = function->name;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetName, (const char **name, CUfunction hfunc), name, hfunc)
{
    return is_kernel(hfunc) ? CUDA_ERROR_INVALID_HANDLE : name_of(name, hfunc);
}

SIM_API(cuKernelGetName, (const char **name, CUkernel hfunc), name, hfunc)
{
    return is_kernel(hfunc) ? name_of(name, of_kernel(hfunc)) : CUDA_ERROR_INVALID_HANDLE;
}

/* Of a kernel whose module is no PTX the driver knows the parameters, and this one does not. */
static CUresult parameter(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    if (!offset)
        return CUDA_ERROR_INVALID_VALUE;
    if (function->parameter_count < 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (index >= (size_t)function->parameter_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = function->parameters[index].offset;
    if (size)
        *size = function->parameters[index].size;
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetParamInfo,
        (CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize), func,
        paramIndex, paramOffset, paramSize)
{
    if (!func || is_kernel(func))
        return CUDA_ERROR_INVALID_HANDLE;
    return parameter(func, paramIndex, paramOffset, paramSize);
}

SIM_API(cuKernelGetParamInfo,
        (CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize), kernel,
        paramIndex, paramOffset, paramSize)
{
    if (!is_kernel(kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    return parameter(of_kernel(kernel), paramIndex, paramOffset, paramSize);
}

SIM_API(cuFuncGetModule, (CUmodule * hmod, CUfunction hfunc), hmod, hfunc)
{
    if (!hmod || !hfunc)
        return CUDA_ERROR_INVALID_VALUE;
    *hmod = hfunc->module;
    return CUDA_SUCCESS;
}

static CUresult attribute(int *pi, CUfunction_attribute attrib, CUfunction function)
{
    if (!pi || (unsigned)attrib >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    switch (attrib) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *pi = 1024;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *pi = 32;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *pi = 90;
        break;
    default:
        *pi = 0;
        break;
    }
    return CUDA_SUCCESS;
}

SIM_API(cuFuncGetAttribute, (int *pi, CUfunction_attribute attrib, CUfunction hfunc), pi, attrib,
        hfunc)
{
    return attribute(pi, attrib, hfunc);
}

SIM_API(cuFuncSetAttribute, (CUfunction hfunc, CUfunction_attribute attrib, int value), hfunc,
        attrib, value)
{
    (void)value;
    return !hfunc                                      ? CUDA_ERROR_INVALID_HANDLE
           : (unsigned)attrib >= CU_FUNC_ATTRIBUTE_MAX ? CUDA_ERROR_INVALID_VALUE
                                                       : CUDA_SUCCESS;
}

SIM_API(cuFuncSetCacheConfig, (CUfunction hfunc, CUfunc_cache config), hfunc, config)
{
    (void)config;
    return hfunc ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_API(cuFuncLoad, (CUfunction function), function)
{
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_API(cuFuncIsLoaded, (CUfunctionLoadingState * state, CUfunction function), state, function)
{
    if (!state || !function)
        return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

SIM_API(cuKernelGetAttribute, (int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev),
        pi, attrib, kernel, dev)
{
    (void)dev;
    return attribute(pi, attrib, of_kernel(kernel));
}

SIM_API(cuKernelSetAttribute, (CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev),
        attrib, val, kernel, dev)
{
    (void)val, (void)dev, (void)attrib;
    return kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIM_API(cuOccupancyMaxActiveBlocksPerMultiprocessor,
        (int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize), numBlocks, func,
        blockSize, dynamicSMemSize)
{
    (void)dynamicSMemSize;
    if (!numBlocks || !func || blockSize <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = blockSize > 2048 ? 0 : 2048 / blockSize > 32 ? 32 : 2048 / blockSize;
    return CUDA_SUCCESS;
}

SIM_API_VOID(cuProfilerStart)
{
    SIM_REFUSED_IN_A_CAPTURE();
    return CUDA_SUCCESS;
}

SIM_API_VOID(cuProfilerStop)
{
    SIM_REFUSED_IN_A_CAPTURE();
    return CUDA_SUCCESS;
}
