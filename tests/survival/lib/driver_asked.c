/* Between a CUDA runtime and the driver: what the runtime looks up becomes a line of ASKED_LOG
 * each, with the name, the version, the flags, the result, the status and the file of the answer.
 */
#include "../lookup.h"

#include <fcntl.h>

typedef void *dlsym_function(void *handle, const char *name);

static lookup_v1_function *real_v1;
static lookup_v2_function *real_v2;

/* A handle of libc finds the hook of who is preloaded behind us, which RTLD_NEXT with a version
 * does not. */
static void *plain_dlsym(void *handle, const char *name)
{
    static dlsym_function *real;
    if (!real) {
        void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
        void *found = libc ? dlvsym(libc, "dlsym", "GLIBC_2.34") : NULL;
        found = found || !libc ? found : dlvsym(libc, "dlsym", GLIBC_FIRST);
        if (!found)
            abort();
        real = AS(dlsym_function, found);
    }
    return real(handle, name);
}

static void note(const char *name, int version, cuuint64_t flags, int result, int status,
                 void *found)
{
    char line[512];
    Dl_info where = {.dli_fname = "none"};
    const char *path = getenv("ASKED_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (result == 0 && found)
        dladdr(found, &where);
    int length = snprintf(line, sizeof line, "%s|%d|%d|%d|%d|%s\n", name, version, (int)flags,
                          result, status, where.dli_fname);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        fputs("driver_asked: no log\n", stderr);
    close(fd);
}

static CUresult lookup_v1(const char *name, void **function, int version, cuuint64_t flags);
static CUresult lookup_v2(const char *name, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status);

/* What looks up is looked up, too. */
static void stay_between(const char *name, int version, void **function)
{
    if (!*function || strcmp(name, "cuGetProcAddress") != 0)
        return;
    if (version < 12000) {
        real_v1 = AS(lookup_v1_function, *function);
        AS(lookup_v1_function, *function) = lookup_v1;
    } else {
        real_v2 = AS(lookup_v2_function, *function);
        AS(lookup_v2_function, *function) = lookup_v2;
    }
}

static CUresult lookup_v1(const char *name, void **function, int version, cuuint64_t flags)
{
    CUresult result = real_v1(name, function, version, flags);
    note(name, version, flags, (int)result, 0, *function);
    if (result == CUDA_SUCCESS)
        stay_between(name, version, function);
    return result;
}

static CUresult lookup_v2(const char *name, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = real_v2(name, function, version, flags, &found);
    note(name, version, flags, (int)result, (int)found, *function);
    if (status)
        *status = found;
    if (result == CUDA_SUCCESS)
        stay_between(name, version, function);
    return result;
}

void *dlsym(void *handle, const char *name)
{
    void *found = plain_dlsym(handle, name);
    if (strcmp(name, "cuGetProcAddress") == 0)
        stay_between("cuGetProcAddress", 11030, &found);
    else if (strcmp(name, "cuGetProcAddress_v2") == 0)
        stay_between("cuGetProcAddress", 12000, &found);
    return found;
}
