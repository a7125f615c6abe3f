/* What copies.js cannot do without C. */
#include <node_api.h>
#include <stdint.h>

#include "by_name.h"

enum { ARGUMENTS_MAX = 7 };

static int64_t word_of(napi_env js, napi_value value)
{
    int64_t word = 0;
    napi_get_value_int64(js, value, &word);
    return word;
}

static napi_value number(napi_env js, long word)
{
    napi_value value;
    napi_create_int64(js, word, &value);
    return value;
}

/* call(name, ...words) */
static napi_value call(napi_env js, napi_callback_info info)
{
    napi_value given[ARGUMENTS_MAX];
    size_t count = ARGUMENTS_MAX;
    long words[ARGUMENTS_MAX] = {0};
    char name[64];
    napi_get_cb_info(js, info, &count, given, NULL, NULL);
    napi_get_value_string_latin1(js, given[0], name, sizeof name, NULL);
    for (size_t i = 1; i < count; i++)
        words[i - 1] = word_of(js, given[i]);
    return number(js, call_by_name(name, words));
}

/* memory(address, size) */
static napi_value memory(napi_env js, napi_callback_info info)
{
    napi_value given[2], buffer;
    size_t count = 2;
    napi_get_cb_info(js, info, &count, given, NULL, NULL);
    napi_create_external_arraybuffer(js, (void *)word_of(js, given[0]),
                                     (size_t)word_of(js, given[1]), NULL, NULL, &buffer);
    return buffer;
}

/* By a thread of the driver's. */
static void call_back(void *function)
{
    napi_call_threadsafe_function(function, NULL, napi_tsfn_blocking);
    napi_release_threadsafe_function(function, napi_tsfn_release);
}

/* launch(stream, function) */
static napi_value launch(napi_env js, napi_callback_info info)
{
    napi_value given[2], name;
    size_t count = 2;
    napi_threadsafe_function function;
    napi_get_cb_info(js, info, &count, given, NULL, NULL);
    napi_create_string_latin1(js, "called", NAPI_AUTO_LENGTH, &name);
    napi_create_threadsafe_function(js, given[1], NULL, name, 0, 1, NULL, NULL, NULL, NULL,
                                    &function);
    return number(js,
                  call_by_name("cudaLaunchHostFunc",
                               (long[6]){word_of(js, given[0]), (long)call_back, (long)function}));
}

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */)
{
    napi_property_descriptor functions[] = {
        {"call", NULL, call, NULL, NULL, NULL, napi_default, NULL},
        {"memory", NULL, memory, NULL, NULL, NULL, napi_default, NULL},
        {"launch", NULL, launch, NULL, NULL, NULL, napi_default, NULL},
    };
    napi_define_properties(env, exports, sizeof functions / sizeof functions[0], functions);
    return exports;
}
