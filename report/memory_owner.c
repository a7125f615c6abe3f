#include "report/memory_owner.h"

#include "common/text.h"
#include "report/frame_kinds.h"
#include "report/json_lines.h"
#include "report/path.h"
#include "report/report.h"
#include "track/stacks.h"

#include <string.h>

#include "common/poison.h"

enum { PATH_BYTES = 4096 };

/* How the names of a known library's files begin, and the name that people know it by. */
struct known {
    const char *prefix, *name;
};

/* By how the file names of libraries begin. */
static const struct known libraries[] = {
    {"libtorch", "PyTorch"},
    {"libc10", "PyTorch"},
    {"libnccl", "NCCL"},
    {"libcublas", "cuBLAS"},
    {"libcudnn", "cuDNN"},
    {"libcufft", "cuFFT"},
    {"libcusolver", "cuSOLVER"},
    {"libcusparse", "cuSPARSE"},
    {"libcurand", "cuRAND"},
    {"libcutensor", "cuTENSOR"},
    {"libnvshmem", "NVSHMEM"},
    {"libnvinfer", "TensorRT"},
    {"librmm", "RMM"},
    {"libcudf", "cuDF"},
    {"libggml", "llama.cpp"},
    {"libjax", "JAX"},
    {"xla_cuda", "JAX"},
    {"xla_extension", "JAX"},
    {"warp.so", "Warp"},
    {"libtensorflow", "TensorFlow"},
    {NULL, NULL},
};

/* By how the names of Python packages begin. */
static const struct known packages[] = {
    {"cupy", "CuPy"}, {"torch", "PyTorch"}, {"jax", "JAX"},   {"numba", "Numba"},
    {"warp", "Warp"}, {"rmm", "RMM"},       {"cudf", "cuDF"}, {"tensorflow", "TensorFlow"},
    {NULL, NULL},
};

/* The folders in which Python packages lie. */
static const char *const package_folders[] = {"/site-packages/", "/dist-packages/"};

/* Stores a part of a text, cut between UTF-8 characters if it does not fit. */
static void put_name(char *name, size_t size, const char *part, size_t length)
{
    struct sc_text text = sc_text_in(name, size);
    sc_text_bytes(&text, part, sc_text_fitting(part, length, size));
}

/* Modules and packages by which interpreters call the driver, for whichever code: they own no
 * memory. */
static const char *const bindings[] = {"libffi", "_ctypes", "_cffi_backend", "cuda", "pycuda"};

/* Is it a package that merely passes Python's calls on to a library (ctypes, cuda-python)? Then
 * the owner is the code around it, which made the call. */
static bool is_binding(const char *name)
{
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++) {
        size_t length = strlen(bindings[i]);
        if (strncmp(name, bindings[i], length) == 0 && (!name[length] || name[length] == '.'))
            return true;
    }
    return false;
}

/* Returns the name of the library or package whose file names begin so, or NULL: the last entry of
 * each list has no name. */
static const char *known_name(const struct known *known, const char *begins)
{
    while (known->prefix && strncmp(begins, known->prefix, strlen(known->prefix)) != 0)
        known++;
    return known->name;
}

/* Returns the part of the path from a Python package's name on ("torch/cuda/memory.py"), or NULL
 * if the file is in no package. */
static const char *in_package(const char *path)
{
    const char *found = NULL;
    for (size_t i = 0; i < sizeof package_folders / sizeof package_folders[0] && !found; i++)
        if ((found = strstr(path, package_folders[i])) != NULL)
            found += strlen(package_folders[i]);
    return found;
}

/* Stores the owner that the frame tells: a library's known name, or else its file's, or the
 * package's. Returns false if it tells nothing, as frames of CUDA, libc, the interpreter, Python's
 * own library and bindings: then the frame around it is asked. `name` is overwritten all the
 * same. */
static bool name_frame(const struct sc_report_frame *frame, char *name, size_t size)
{
    char path[PATH_BYTES];
    const char *file = frame->is_python ? frame->python.file : frame->module;
    size_t length = frame->is_python ? frame->python.file_bytes : file ? strlen(file) : 0;
    if (!file || sc_frame_kind_of_path(file, length) == SC_FRAME_RUNTIME)
        return false;
    put_name(path, sizeof path, file, length);
    const char *base = sc_path_base(path), *package = in_package(path);
    const char *known = frame->is_python ? NULL : known_name(libraries, base);
    if (!known && package)
        known = known_name(packages, package);
    const char *part = known ? known : package ? package : base;
    put_name(name, size, part, known ? strlen(known) : strcspn(part, "/"));
    return !is_binding(name);
}

/* Stores who owns memory that a call with this stack has allocated: the innermost frame that tells
 * a library or package, as "PyTorch". */
void sc_memory_owner_name(const struct sc_json_lines_stack *stack, char *name, size_t size)
{
    for (unsigned i = 0; i < stack->count; i++)
        if (name_frame(&stack->frames[i], name, size))
            return;
    put_name(name, size, "unknown", strlen("unknown"));
}

/* Does what sc_memory_owner_name does for a stack whose frames have no names yet, and names them
 * only up to the first that tells an owner, since naming is slow. */
void sc_memory_owner_find(uint32_t stack, char *name, size_t size)
{
    void *const *frames;
    unsigned count = stack ? sc_stacks_get(stack, &frames) : 0;
    for (unsigned i = 0; i < count; i++) {
        struct sc_report_frame frame;
        sc_report_symbolise(frames[i], &frame);
        if (name_frame(&frame, name, size))
            return;
    }
    put_name(name, size, "unknown", strlen("unknown"));
}
