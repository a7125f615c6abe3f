/* Writes the member `um` of the summary line: page faults on managed memory and bytes of it that
 * moved, as CUPTI has reported them (ledger/managed_counts.h). */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_REPORT_UM_PART_H
#define SC_REPORT_UM_PART_H

struct sc_report_um;
struct sc_text;

/* Writes the member `um` of the summary line: page faults and moves of managed memory; nothing if
 * the option um is off. */
void sc_um_part_put(struct sc_text *line, const struct sc_report_um *um);

#endif
