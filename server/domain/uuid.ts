const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Whether the text has the form of an id, of whichever version. */
export const isUuid = (text: string): boolean => uuid.test(text);
