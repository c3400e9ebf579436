/* table.h: a table for people: columns as wide as what is in them, and never wider than the
 * terminal together. */
#ifndef RLOCK_CMD_TABLE_H
#define RLOCK_CMD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 10, TABLE_DROP = 0, TABLE_TAIL = -1 };

struct table_column {
    const char *title;
    bool right;   /* numbers */
    bool if_used; /* it goes where all its cells are empty */
};

/* What a column does where the table is wider than the terminal. */
struct table_step {
    size_t column;
    int to; /* so many columns, the rest becoming "..."; TABLE_DROP: it goes; TABLE_TAIL: of each
               cell only what stands behind its last '@' */
};

struct table {
    const struct table_column *columns;
    size_t column_count;
    const struct table_step *steps; /* in this order, until it fits; what comes last counts most */
    size_t step_count;
    struct table_cell {
        char *text;
        const char *style;
    } * cells; /* row by row */
    size_t count, room;
    bool failed; /* no memory: write nothing of it */
};

/* Adds a cell, from left to right, row by row; NULL or "": empty. What a terminal would take for
 * more than text becomes '?'. style: how it is set off on a terminal, an SGR parameter such as "1";
 * a constant; NULL: not at all. */
void table_add(struct table *table, const char *text, const char *style);

/* Writes titles and rows, no wider than so many columns. colours: false for plain text. */
void table_write(const struct table *table, FILE *stream, size_t width, bool colours);
void table_free(struct table *table);

#endif
