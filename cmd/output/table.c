/* table.c: a table for people. */
#include "output/table.h"

#include <stdlib.h>
#include <string.h>

#include "output/out.h"
#include "output/printable.h"

#define ELLIPSIS "..."

enum { GAP = 2 };

static bool make_room(struct table *table) {
    if (table->count < table->room)
        return true;
    const size_t room = table->room > 0 ? 2 * table->room : 64;
    struct table_cell *cells = realloc(table->cells, room * sizeof *cells);
    if (cells == NULL)
        return false;
    table->cells = cells;
    table->room = room;
    return true;
}

void table_add(struct table *table, const char *text, const char *style) {
    char *cell = make_room(table) ? strdup(text != NULL ? text : "") : NULL;
    table->failed = table->failed || cell == NULL;
    if (cell == NULL)
        return;
    out_make_printable(cell);
    table->cells[table->count++] = (struct table_cell){.text = cell, .style = style};
}

void table_free(struct table *table) {
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i].text);
    free(table->cells);
    table->cells = NULL;
    table->count = table->room = 0;
}

/* --- widths ---------------------------------------------------------------------------------- */

/* How the columns are shown. */
struct layout {
    size_t widths[TABLE_COLUMNS_MAX];
    bool dropped[TABLE_COLUMNS_MAX], tail[TABLE_COLUMNS_MAX];
    bool colours;
};

static const char *tail_of(const char *text) {
    const char *at = strrchr(text, '@');
    return at != NULL ? at + 1 : text;
}

static size_t measure(const struct table *table, size_t column, bool tail) {
    size_t widest = columns_of(table->columns[column].title);
    for (size_t i = column; i < table->count; i += table->column_count) {
        const char *text = table->cells[i].text;
        const size_t width = columns_of(tail ? tail_of(text) : text);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static bool is_used(const struct table *table, size_t column) {
    for (size_t i = column; i < table->count; i += table->column_count) {
        if (*table->cells[i].text != '\0')
            return true;
    }
    return false;
}

static size_t sum(const struct table *table, const struct layout *layout) {
    size_t total = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!layout->dropped[i])
            total += (total > 0 ? GAP : 0) + layout->widths[i];
    }
    return total;
}

static void take_step(const struct table *table, const struct table_step *step,
                      struct layout *layout, size_t over) {
    size_t *width = &layout->widths[step->column];
    const size_t least = (size_t)step->to;
    if (step->to == TABLE_DROP)
        layout->dropped[step->column] = true;
    else if (step->to == TABLE_TAIL)
        *width = measure(table, step->column, layout->tail[step->column] = true);
    else if (*width > least)
        *width = *width - least > over ? *width - over : least;
}

/* A later step may have made more room than was needed: a column that was cut gets it back. */
static void give_back(const struct table *table, struct layout *layout, size_t room) {
    for (size_t i = 0; i < table->column_count && room > 0; i++) {
        const size_t wanted = measure(table, i, layout->tail[i]) - layout->widths[i];
        const size_t given = layout->dropped[i] ? 0 : wanted < room ? wanted : room;
        layout->widths[i] += given;
        room -= given;
    }
}

static void fit(const struct table *table, struct layout *layout, size_t width) {
    size_t total;
    for (size_t i = 0; i < table->column_count; i++) {
        layout->widths[i] = measure(table, i, false);
        layout->dropped[i] = table->columns[i].if_used && !is_used(table, i);
    }
    for (size_t i = 0; i < table->step_count && (total = sum(table, layout)) > width; i++) {
        if (table->steps[i].column < table->column_count)
            take_step(table, &table->steps[i], layout, total - width);
    }
    total = sum(table, layout);
    if (total <= width)
        give_back(table, layout, width - total);
    else if (layout->widths[0] > width)
        layout->widths[0] = width;
}

/* --- cells ----------------------------------------------------------------------------------- */

static void write_text(FILE *stream, const char *text, const char *more, const char *style) {
    if (style != NULL && *text != '\0')
        fprintf(stream, "\033[%sm%s%s\033[0m", style, text, more);
    else
        fprintf(stream, "%s%s", text, more);
}

/* width: SIZE_MAX for no limit. Behind the last cell of a row nothing stands. */
static void write_cell(FILE *stream, const char *text, const char *style, size_t width, bool right,
                       bool is_last) {
    char *cut = NULL;
    size_t taken = columns_of(text);
    const char *more = "";
    if (taken > width && (cut = strdup(text)) != NULL) {
        more = width > strlen(ELLIPSIS) ? ELLIPSIS : "";
        columns_cut(cut, width - strlen(more));
        taken = columns_of(cut) + strlen(more);
    }
    const int space = taken < width ? (int)(width - taken) : 0;
    fprintf(stream, "%*s", right ? space : 0, "");
    write_text(stream, cut != NULL ? cut : text, more, style);
    fprintf(stream, "%*s", is_last ? 0 : GAP + (right ? 0 : space), "");
    free(cut);
}

static void write_row(const struct table *table, FILE *stream, const struct table_cell *cells,
                      const struct layout *layout) {
    size_t last = 0;
    for (size_t i = 0; i < table->column_count; i++)
        last = *cells[i].text != '\0' && !layout->dropped[i] ? i : last;
    for (size_t i = 0; i <= last; i++) {
        const char *text = layout->tail[i] ? tail_of(cells[i].text) : cells[i].text;
        if (!layout->dropped[i])
            write_cell(stream, text, layout->colours ? cells[i].style : NULL, layout->widths[i],
                       table->columns[i].right, i == last);
    }
    fputc('\n', stream);
}

void table_write(const struct table *table, FILE *stream, size_t width, bool colours) {
    struct layout layout = {.colours = colours};
    struct table_cell titles[TABLE_COLUMNS_MAX];
    fit(table, &layout, width);
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
        titles[i] = (struct table_cell){
            .text = (char *)(i < table->column_count ? table->columns[i].title : ""),
            .style = "1",
        };
    write_row(table, stream, titles, &layout);
    for (size_t i = 0; i + table->column_count <= table->count; i += table->column_count)
        write_row(table, stream, &table->cells[i], &layout);
}
