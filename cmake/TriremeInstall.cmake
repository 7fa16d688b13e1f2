# make install: library, header, command.
install(TARGETS trireme EXPORT trireme-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/trireme.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
