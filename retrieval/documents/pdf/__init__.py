"""The layout of PDF pages: words to lines, columns, tables, paragraphs and headings."""
