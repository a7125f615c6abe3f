/* The formats that `safecopy report` writes. Each has a file of its own, which uses no other
 * format's. */
#ifndef SC_REPORT_COMMAND_FORMATS_FORMATS_H
#define SC_REPORT_COMMAND_FORMATS_FORMATS_H

#include "report/command/model.h"

#include <stdbool.h>
#include <stdio.h>

typedef void sc_format_writer(FILE *out, struct sc_model *model);

sc_format_writer sc_as_text;
sc_format_writer sc_as_json;
sc_format_writer sc_as_html;
sc_format_writer sc_as_sarif;
sc_format_writer sc_as_junit;
sc_format_writer sc_as_github;
sc_format_writer sc_as_markdown;
sc_format_writer sc_as_memory;
sc_format_writer sc_as_collapsed;
sc_format_writer sc_as_collapsed_peak;
sc_format_writer sc_as_pprof;
sc_format_writer sc_as_prometheus;
sc_format_writer sc_as_perfetto;
sc_format_writer sc_as_otlp_logs;
sc_format_writer sc_as_otlp_metrics;

struct sc_format {
    const char *name;
    sc_format_writer *write;
    bool is_binary;
    bool is_brief;                   /* it needs of each run only what is shown to people */
    bool is_by_process;              /* it shows each run by itself, so runs cannot be merged */
    sc_format_writer *write_summary; /* appended to the file that the variable names; NULL: none */
    const char *summary_variable;
};

/* Returns the format of this name, or NULL if there is none; sc_formats_name lists the names. */
const struct sc_format *sc_formats_find(const char *name);

/* Returns the name of the format with this index; NULL past the last. */
const char *sc_formats_name(unsigned index);

#endif
