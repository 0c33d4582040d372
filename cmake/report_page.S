/* The built page of web/, byte for byte, for src/report/report_page.cpp. */
    .section .rodata
    .balign 16
    .global goban_report_page
    .global goban_report_page_end
goban_report_page:
    .incbin GOBAN_REPORT_PAGE
goban_report_page_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
