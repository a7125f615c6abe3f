/* A tool as NVTX loads it (NVTX_INJECTION64_PATH): what it is shown becomes a line of NVTX_LOG
 * each, with the name of the thread that it is shown on. NVTX_TOOL=refuses, or stays in its first
 * mark. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

struct nvtxDomainRegistration_st {
    char name[64];
};

static int is_told_to(const char *what)
{
    const char *told = getenv("NVTX_TOOL");
    return told && strcmp(told, what) == 0;
}

static void note(const char *what, const char *domain, unsigned long number, const char *words)
{
    char line[1024], thread[16] = "";
    const char *path = getenv("NVTX_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    prctl(PR_GET_NAME, thread);
    int length =
        snprintf(line, sizeof line, "%s|%s|%s|%lu|%s\n", what, thread, domain, number, words);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        fputs("nvtx_tool: no log\n", stderr);
    close(fd);
}

static __attribute__((constructor)) void tell_loaded(void)
{
    note("loaded", "", 0, "");
}

static nvtxDomainHandle_t create(const char *name)
{
    nvtxDomainHandle_t domain = calloc(1, sizeof *domain);
    snprintf(domain->name, sizeof domain->name, "%s", name);
    note("domain", domain->name, 0, "");
    return domain;
}

static void name_category(nvtxDomainHandle_t domain, uint32_t category, const char *name)
{
    note("category", domain->name, category, name);
}

static void mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *of)
{
    note("mark", domain->name, of->category, of->message.ascii);
    while (is_told_to("stays"))
        pause();
}

static nvtxRangeId_t start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *of)
{
    static unsigned long last;
    note("start", domain->name, ++last, of->message.ascii);
    return last;
}

static void end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    note("end", domain->name, id, "");
}

static void mark_plainly(const char *words)
{
    note("mark", "", 0, words);
}

static void name_stream(CUstream stream, const char *name)
{
    note("stream", "", stream != NULL, name);
}

static void set(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule module, unsigned id,
                NvtxFunctionPointer function)
{
    NvtxFunctionTable table;
    unsigned size;
    if (callbacks->GetModuleFunctionTable(module, &table, &size) && id < size)
        *table[id] = function;
}

/* Once for each object that brings NVTX. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t find);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t find)
{
    const NvtxExportTableCallbacks *callbacks = find(NVTX_ETID_CALLBACKS);
    if (is_told_to("refuses"))
        return 0;
#define SET(module, id, function)                                                                  \
    set(callbacks, NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##id,                             \
        (NvtxFunctionPointer)(function))
    SET(CORE, MarkA, mark_plainly);
    SET(CORE2, DomainCreateA, create);
    SET(CORE2, DomainNameCategoryA, name_category);
    SET(CORE2, DomainMarkEx, mark);
    SET(CORE2, DomainRangeStartEx, start);
    SET(CORE2, DomainRangeEnd, end);
    SET(CUDA, NameCuStreamA, name_stream);
    return 1;
}
