/* table.c: a table for people. */
#include "output/table.h"

#include <stdlib.h>
#include <string.h>

#include "output/columns.h"
#include "output/out.h"

enum { GAP = 2 };

bool table_add(struct table *table, const char *text, const char *style) {
    if (table->count == table->room) {
        const size_t room = table->room > 0 ? 2 * table->room : 64;
        struct table_cell *cells = realloc(table->cells, room * sizeof *cells);
        if (cells == NULL)
            return false;
        table->cells = cells;
        table->room = room;
    }
    char *cell = strdup(text != NULL ? text : "");
    if (cell == NULL)
        return false;
    out_make_printable(cell);
    table->cells[table->count++] = (struct table_cell){.text = cell, .style = style};
    return true;
}

void table_free(struct table *table) {
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i].text);
    free(table->cells);
    table->cells = NULL;
    table->count = table->room = 0;
}

/* --- widths ---------------------------------------------------------------------------------- */

static void measure(const struct table *table, size_t *widths) {
    for (size_t i = 0; i < table->column_count; i++)
        widths[i] = columns_of(table->columns[i].title);
    for (size_t i = 0, column = 0; i < table->count; i++) {
        const size_t width = columns_of(table->cells[i].text);
        if (width > widths[column])
            widths[column] = width;
        column = column + 1 < table->column_count ? column + 1 : 0;
    }
}

static size_t sum(const size_t *widths, size_t count) {
    size_t total = count > 0 ? GAP * (count - 1) : 0;
    for (size_t i = 0; i < count; i++)
        total += widths[i];
    return total;
}

/* Cuts the columns whose turn it is. */
static void cut(const struct table *table, size_t *widths, size_t shown, int turn, size_t width) {
    for (size_t i = 0; i < shown; i++) {
        const struct table_column *column = &table->columns[i];
        const size_t total = sum(widths, shown);
        if (column->turn != turn || widths[i] <= column->least || total <= width)
            continue;
        const size_t spare = widths[i] - column->least;
        widths[i] -= spare < total - width ? spare : total - width;
    }
}

/* Returns how many columns there is room for. The last turn comes when the column whose turn was
 * first is gone. */
static size_t fit(const struct table *table, size_t *widths, size_t width) {
    size_t shown = table->column_count;
    for (int turn = 1; turn <= TABLE_TURNS; turn++) {
        if (turn == TABLE_TURNS && sum(widths, shown) > width &&
            table->columns[shown - 1].turn == 1)
            shown--;
        cut(table, widths, shown, turn, width);
    }
    while (shown > 1 && sum(widths, shown) > width)
        shown--;
    if (widths[0] > width)
        widths[0] = width;
    return shown;
}

/* --- cells ----------------------------------------------------------------------------------- */

static void write_cell(const struct table_column *column, FILE *stream, const char *text,
                       size_t width, bool is_last, const char *style) {
    const char *more = width > 3 ? "..." : "";
    char *cut = NULL;
    size_t taken = columns_of(text);
    if (taken > width && (cut = strdup(text)) != NULL) {
        columns_cut(cut, width - strlen(more));
        taken = columns_of(cut) + strlen(more);
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
static void write_row(const struct table *table, FILE *stream, const struct table_cell *cells,
                      const size_t *widths, size_t shown, bool colours) {
    size_t last = 0;
    for (size_t i = 0; i < shown; i++)
        last = *cells[i].text != '\0' ? i : last;
    for (size_t i = 0; i <= last; i++)
        write_cell(&table->columns[i], stream, cells[i].text, widths[i], i == last,
                   colours ? cells[i].style : NULL);
    fputc('\n', stream);
}

void table_write(const struct table *table, FILE *stream, size_t width, bool colours) {
    size_t widths[TABLE_COLUMNS_MAX] = {0};
    struct table_cell titles[TABLE_COLUMNS_MAX];
    measure(table, widths);
    const size_t shown = fit(table, widths, width);
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
        titles[i] = (struct table_cell){
            .text = (char *)(i < table->column_count ? table->columns[i].title : ""),
            .style = "1",
        };
    write_row(table, stream, titles, widths, shown, colours);
    for (size_t i = 0; i + table->column_count <= table->count; i += table->column_count)
        write_row(table, stream, &table->cells[i], widths, shown, colours);
}
