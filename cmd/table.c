/* table.c: a table for people. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "out.h"

enum { GAP = 2 };

bool table_add(struct table *table, const char *text) {
    if (table->count == table->room) {
        const size_t room = table->room > 0 ? 2 * table->room : 64;
        char **cells = realloc(table->cells, room * sizeof *cells);
        if (cells == NULL)
            return false;
        table->cells = cells;
        table->room = room;
    }
    char *cell = strdup(text != NULL ? text : "");
    if (cell == NULL)
        return false;
    out_make_printable(cell);
    table->cells[table->count++] = cell;
    return true;
}

void table_free(struct table *table) {
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    table->cells = NULL;
    table->count = table->room = 0;
}

/* --- widths ---------------------------------------------------------------------------------- */

static void measure(const struct table *table, size_t *widths) {
    for (size_t i = 0; i < table->column_count; i++)
        widths[i] = columns_of(table->columns[i].title);
    for (size_t i = 0, column = 0; i < table->count; i++) {
        const size_t width = columns_of(table->cells[i]);
        if (width > widths[column])
            widths[column] = width;
        column = column + 1 < table->column_count ? column + 1 : 0;
    }
}

/* The widest of those that may be cut gives way first. */
static void fit(const struct table *table, size_t *widths, size_t width) {
    size_t total = GAP * (table->column_count - 1);
    for (size_t i = 0; i < table->column_count; i++)
        total += widths[i];
    while (total > width) {
        size_t widest = table->column_count;
        for (size_t i = 0; i < table->column_count; i++) {
            const size_t least = table->columns[i].least;
            if (least > 0 && widths[i] > least &&
                (widest == table->column_count || widths[i] >= widths[widest]))
                widest = i;
        }
        if (widest == table->column_count)
            return;
        widths[widest]--;
        total--;
    }
}

/* --- cells ----------------------------------------------------------------------------------- */

static void write_cell(const struct table_column *column, FILE *stream, const char *text,
                       size_t width, bool is_last, const char *style) {
    static const char more[] = "...";
    char *cut = NULL;
    size_t taken = columns_of(text);
    if (taken > width && (cut = strdup(text)) != NULL) {
        columns_cut(cut, width - (sizeof more - 1));
        taken = columns_of(cut) + sizeof more - 1;
    }
    const int space = taken < width ? (int)(width - taken) : 0;
    if (column->right)
        fprintf(stream, "%*s", space, "");
    if (style != NULL && *text != '\0')
        fprintf(stream, "\033[%sm%s%s\033[0m", style, cut != NULL ? cut : text,
                cut != NULL ? more : "");
    else
        fprintf(stream, "%s%s", cut != NULL ? cut : text, cut != NULL ? more : "");
    if (!is_last)
        fprintf(stream, "%*s", GAP + (column->right ? 0 : space), "");
    free(cut);
}

/* Nothing stands behind the last cell that has something in it. */
static void write_row(const struct table *table, FILE *stream, const char *const *cells,
                      const size_t *widths, table_style *style) {
    size_t last = 0;
    for (size_t i = 0; i < table->column_count; i++)
        last = *cells[i] != '\0' ? i : last;
    for (size_t i = 0; i <= last; i++)
        write_cell(&table->columns[i], stream, cells[i], widths[i], i == last,
                   style != NULL ? style(i, cells[i]) : NULL);
    fputc('\n', stream);
}

void table_write(const struct table *table, FILE *stream, size_t width, table_style *style) {
    size_t widths[TABLE_COLUMNS_MAX] = {0};
    const char *titles[TABLE_COLUMNS_MAX];
    measure(table, widths);
    fit(table, widths, width);
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
        titles[i] = i < table->column_count ? table->columns[i].title : "";
    write_row(table, stream, titles, widths, style);
    for (size_t i = 0; i + table->column_count <= table->count; i += table->column_count)
        write_row(table, stream, (const char *const *)&table->cells[i], widths, style);
}
