#include "report/memory_owner.h"

#include "common/text.h"
#include "report/frame_kinds.h"
#include "report/json_lines.h"
#include "report/path.h"
#include "report/report.h"
#include "track/stacks.h"

#include <string.h>

#include "common/poison.h"

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
    {"libtensorflow", "TensorFlow"},
};

/* By how the names of Python packages begin. */
static const struct known packages[] = {
    {"cupy", "CuPy"}, {"torch", "PyTorch"}, {"jax", "JAX"},   {"numba", "Numba"},
    {"warp", "Warp"}, {"rmm", "RMM"},       {"cudf", "cuDF"}, {"tensorflow", "TensorFlow"},
};

/* The folders in which Python packages lie. */
static const char *const package_folders[] = {"/site-packages/", "/dist-packages/"};

/* Writes `part`, cut between UTF-8 characters where it does not fit. */
static void put_name(char *name, size_t size, const char *part, size_t length)
{
    struct sc_text text = sc_text_in(name, size);
    size_t fits = length < size ? length : size - 1;
    while (fits < length && fits > 0 && ((unsigned char)part[fits] & 0xc0) == 0x80)
        fits--;
    sc_text_bytes(&text, part, fits);
}

/* Modules and packages by which interpreters call the driver, for whichever code: they own no
 * memory. */
static const char *const bindings[] = {"libffi", "_ctypes", "_cffi_backend", "cuda", "pycuda"};

static bool is_binding(const char *name)
{
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++) {
        size_t length = strlen(bindings[i]);
        if (strncmp(name, bindings[i], length) == 0 && (!name[length] || name[length] == '.'))
            return true;
    }
    return false;
}

static bool name_known(const struct known *known, size_t count, const char *begins, char *name,
                       size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(begins, known[i].prefix, strlen(known[i].prefix)) == 0) {
            put_name(name, size, known[i].name, strlen(known[i].name));
            return true;
        }
    return false;
}

#define NAME_KNOWN(known, begins, name, size)                                                      \
    name_known(known, sizeof(known) / sizeof(known)[0], begins, name, size)

/* Writes the name of the Python package that the path lies in. False: it lies in none. */
static bool name_package(const char *path, size_t length, char *name, size_t size)
{
    char copy[1024];
    put_name(copy, sizeof copy, path, length);
    for (size_t i = 0; i < sizeof package_folders / sizeof package_folders[0]; i++) {
        const char *found = strstr(copy, package_folders[i]);
        if (!found)
            continue;
        found += strlen(package_folders[i]);
        if (!NAME_KNOWN(packages, found, name, size))
            put_name(name, size, found, strcspn(found, "/"));
        return true;
    }
    return false;
}

static void name_module(const char *path, char *name, size_t size)
{
    const char *base = sc_path_base(path);
    if (!NAME_KNOWN(libraries, base, name, size) && !name_package(path, strlen(path), name, size))
        put_name(name, size, base, strlen(base));
}

/* Writes the owner that the frame tells. False: it tells nothing, as frames of CUDA, libc, the
 * interpreter, Python's own library and bindings. */
static bool name_frame(const struct sc_report_frame *frame, char *name, size_t size)
{
    const char *file = frame->python.file;
    if (!frame->is_python) {
        if (!frame->module ||
            sc_frame_kind_of_path(frame->module, strlen(frame->module)) == SC_FRAME_RUNTIME)
            return false;
        name_module(frame->module, name, size);
        return !is_binding(name);
    }
    if (sc_frame_kind_of_path(file, frame->python.file_bytes) == SC_FRAME_RUNTIME)
        return false;
    if (!name_package(file, frame->python.file_bytes, name, size)) {
        char copy[1024];
        put_name(copy, sizeof copy, file, frame->python.file_bytes);
        put_name(name, size, sc_path_base(copy), strlen(sc_path_base(copy)));
    }
    return !is_binding(name);
}

void sc_memory_owner_name(const struct sc_json_lines_stack *stack, char *name, size_t size)
{
    for (unsigned i = 0; i < stack->count; i++)
        if (name_frame(&stack->frames[i], name, size))
            return;
    put_name(name, size, "unknown", strlen("unknown"));
}

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
