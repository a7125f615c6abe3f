#include "report/command/formats/formats.h"

#include <string.h>

static const struct sc_format formats[] = {
    {.name = "text", .write = sc_as_text, .is_brief = true},
    {.name = "json", .write = sc_as_json},
    {.name = "html", .write = sc_as_html, .is_brief = true},
    {.name = "sarif", .write = sc_as_sarif, .is_brief = true},
    {.name = "junit", .write = sc_as_junit, .is_brief = true},
    {
        .name = "github",
        .write = sc_as_github,
        .is_brief = true,
        .write_summary = sc_as_markdown,
        .summary_variable = "GITHUB_STEP_SUMMARY",
    },
    {.name = "markdown", .write = sc_as_markdown, .is_brief = true},
    {.name = "memory", .write = sc_as_memory, .is_brief = true, .is_by_process = true},
    {.name = "collapsed", .write = sc_as_collapsed, .is_brief = true, .is_by_process = true},
    {.name = "collapsed-peak",
     .write = sc_as_collapsed_peak,
     .is_brief = true,
     .is_by_process = true},
    {.name = "pprof",
     .write = sc_as_pprof,
     .is_brief = true,
     .is_binary = true,
     .is_by_process = true},
    {.name = "prometheus", .write = sc_as_prometheus, .is_brief = true, .is_by_process = true},
    {.name = "perfetto",
     .write = sc_as_perfetto,
     .is_brief = true,
     .is_binary = true,
     .is_by_process = true},
    {.name = "otlp-logs", .write = sc_as_otlp_logs, .is_brief = true},
    {.name = "otlp-metrics", .write = sc_as_otlp_metrics, .is_brief = true, .is_by_process = true},
};

enum { COUNT = sizeof formats / sizeof formats[0] };

/* Returns the name of a format; NULL past the last, for suggestions. */
const char *sc_formats_name(unsigned index)
{
    return index < COUNT ? formats[index].name : NULL;
}

/* Returns the format with the name; NULL: there is none. */
const struct sc_format *sc_formats_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}
