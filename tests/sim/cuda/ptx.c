/* The parameters of kernels, out of the text of a module. */
#include "ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

char *sim_ptx_copy(const void *image)
{
    static const char head[] = ".version";
    return strncmp(image, head, sizeof head - 1) == 0 ? strdup(image) : NULL;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

bool sim_ptx_calls(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length)
        if (at > text && !is_of_name(at[-1]) && !is_of_name(at[length]))
            return true;
    return false;
}

/* Behind the "(" of the kernel's parameters, or NULL. */
static const char *find(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, ".entry")) != NULL;) {
        at += strlen(".entry");
        at += strspn(at, " \t\n");
        if (strncmp(at, name, length) == 0 && !is_of_name(at[length])) {
            const char *open = at + length + strspn(at + length, " \t\n");
            return *open == '(' ? open + 1 : open;
        }
    }
    return NULL;
}

/* A declaration such as ".param .align 8 .b8 name[24]", from `at` up to `end`. */
static bool read_one(const char *at, const char *end, size_t *size, size_t *align)
{
    size_t bytes = 0, count = 1;
    *align = 0;
    for (; at < end; at++)
        if (strncmp(at, ".align", 6) == 0)
            *align = strtoul(at + 6, NULL, 10);
        else if (*at == '.' && strchr("bsuf", at[1]) && isdigit((unsigned char)at[2]))
            bytes = strtoul(at + 2, NULL, 10) / 8;
        else if (*at == '[')
            count = strtoul(at + 1, NULL, 10);
    *size = bytes * count;
    *align = *align ? *align : bytes;
    return bytes > 0;
}

int sim_ptx_parameters(const char *text, const char *name,
                       struct sim_parameter parameters[SIM_PARAMETERS_MAX])
{
    size_t offset = 0;
    int count = 0;
    const char *at = find(text, name);
    if (!at)
        return -1;
    for (const char *end; *at != ')' && *at != '{' && *at && count < SIM_PARAMETERS_MAX; at = end) {
        size_t size, align;
        end = at + strcspn(at, ",){");
        if (read_one(at, end, &size, &align)) {
            offset = (offset + align - 1) / align * align;
            parameters[count++] = (struct sim_parameter){offset, size};
            offset += size;
        }
        end += *end == ',';
    }
    return count;
}
