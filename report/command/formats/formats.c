#include "report/command/formats/formats.h"

#include <string.h>

static const struct sc_format formats[] = {
    {"text", sc_as_text, .is_brief = true},
    {"json", sc_as_json, .is_brief = false},
};

enum { COUNT = sizeof formats / sizeof formats[0] };

const char *sc_formats_name(unsigned index)
{
    return index < COUNT ? formats[index].name : NULL;
}

const struct sc_format *sc_formats_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}
