; Text as strings: for concrete evaluation.
(define-sort Text () String)
