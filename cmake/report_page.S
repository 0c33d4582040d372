/* The built page of web/, byte for byte, for src/site/page/report_page.cpp. */
    .section .rodata
    .balign 16
    .global kReportPage
    .global kReportPageEnd
kReportPage:
    .incbin GOBAN_REPORT_PAGE
kReportPageEnd:
    .byte 0
    .section .note.GNU-stack, "", %progbits
