/* The section of the page that says who holds which memory. */
#ifndef SC_REPORT_COMMAND_FORMATS_MEMORY_SECTION_H
#define SC_REPORT_COMMAND_FORMATS_MEMORY_SECTION_H

#include <stdio.h>

struct sc_model;

/* Write the section, and a link to it. Neither writes anything if no run has told of its memory. */
void sc_memory_section_write(FILE *out, struct sc_model *model);
void sc_memory_section_link(FILE *out, struct sc_model *model);

#endif
