/* Modules that twins open. They lie beside the survival programs. */
#ifndef SC_TESTS_HAZARD_PLUGIN_H
#define SC_TESTS_HAZARD_PLUGIN_H

#include "late_copy.h"

#include <dlfcn.h>

static TWIN_HELPER void *open_beside_as(const char *name, int mode)
{
    static const char folder[] = "../survival/lib";
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 100);
    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length <= 0)
        exit(3);
    snprintf(path + length, 100, "%s/%s", folder, name);
    void *module = dlopen(path, mode);
    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return module;
}

static TWIN_HELPER void *open_beside(const char *name)
{
    return open_beside_as(name, RTLD_NOW);
}

/* One with static data, for the twins of dlclose. */
static TWIN_HELPER void *open_plugin(void)
{
    return open_beside("libstatic_data.so");
}

/* 1 MB of it, filled. */
static TWIN_HELPER void *plugin_data(void *plugin, unsigned seed)
{
    void *data = dlsym(plugin, "sc_static_data");
    if (!data)
        exit(3);
    fill(data, LARGE, seed);
    return data;
}

#endif
