#include "report/command/called.h"

#include "report/command/fields.h"

#include <stdbool.h>
#include <string.h>

/* Does the function's name begin with the prefix and a capital behind it? So "cu" fits cuMemFree,
 * and not cudaFree. */
static bool begins(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && name[length] >= 'A' && name[length] <= 'Z';
}

/* Is it a function of the CUDA runtime's own, with a plain name of C? C++ functions with such
 * names come from its headers' inline code, and the program did not call them by that name. */
static bool is_runtime_function(const char *name)
{
    return begins(name, "cuda") && !strpbrk(name, "(<: ");
}

/* Finds in the stack which function of the CUDA runtime the program called. From the driver's
 * function outwards, as long as the frames are what every program runs on: the last of the
 * runtime's own names is it. Returns NULL if there is none. */
static const char *find_in_stack(const struct sc_frames *stack)
{
    const char *found = NULL;
    for (size_t i = 0; i < stack->count && stack->frames[i].kind == SC_FRAME_RUNTIME; i++) {
        const char *function = stack->frames[i].function;
        if (stack->frames[i].is_python)
            break;
        if (function && is_runtime_function(function))
            found = function;
    }
    return found;
}

/* Returns the function as the program calls it: the runtime's, if that called the driver. */
const char *sc_called_function(const json_t *side, const struct sc_frames *stack)
{
    const char *api = sc_field_string(side, "api", "?");
    const char *runtime = sc_field_string(side, "runtime_api", NULL);
    if (!runtime && begins(api, "cu"))
        runtime = find_in_stack(stack);
    return runtime ? runtime : api;
}

/* Returns the function as the program calls it, with the driver's after it if that is another one.
 */
const char *sc_called_words(struct sc_scratch *scratch, const json_t *side,
                            const struct sc_frames *stack)
{
    const char *called = sc_called_function(side, stack);
    const char *api = sc_field_string(side, "api", "?");
    return strcmp(called, api) == 0 ? api : sc_scratch_print(scratch, "%s (%s)", called, api);
}
