/* A module with static data, for the twins of dlclose. It lies beside the survival programs. */
#ifndef SC_TESTS_HAZARD_PLUGIN_H
#define SC_TESTS_HAZARD_PLUGIN_H

#include "late_copy.h"

#include <dlfcn.h>

static TWIN_HELPER void *open_plugin(void)
{
    static const char name[] = "/../survival/lib/libstatic_data.so";
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof name);
    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length <= 0)
        exit(3);
    memcpy(path + length - 1, name, sizeof name);
    void *plugin = dlopen(path, RTLD_NOW);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return plugin;
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
