/* Writes the section of the HTML page that says who holds which memory. */
#ifndef SC_REPORT_COMMAND_FORMATS_MEMORY_SECTION_H
#define SC_REPORT_COMMAND_FORMATS_MEMORY_SECTION_H

#include <stdio.h>

struct sc_model;

/* Write the section, and a link to it; nothing if no run has reported its memory. */
void sc_memory_section_write(FILE *out, struct sc_model *model);
void sc_memory_section_link(FILE *out, struct sc_model *model);

#endif
